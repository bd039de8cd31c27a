"""What is asked about people elsewhere without anybody waiting for it."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.people import store
from kith.federation.people.fetching import ActorFetches, refresh
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId

__all__ = ["LOOK_FOR_STALE", "REFRESH", "LookForStale", "RefreshActor", "is_stale", "refresh_later"]

DAY, WEEK = timedelta(days=1), timedelta(days=7)
AT_ONCE = 50
LATELY = timedelta(days=30)


class RefreshActor(msgspec.Struct):
    account_id: AccountId


class LookForStale(msgspec.Struct):
    """Whoever was not asked about for a week, although they have posted since: some at a time."""


def is_stale(work: Work, account: Account, since: timedelta = DAY) -> bool:
    return not account.is_local and (account.fetched_at is None or work.now - account.fetched_at > since)


def refresh_later(work: Work, account: Account) -> None:
    work.enqueue(REFRESH, RefreshActor(account_id=account.id), key=str(account.id))


async def refresh_actor(work: Work, payload: RefreshActor) -> None:
    account = await accounts.find(work.db, payload.account_id)
    if account is None or account.is_local or account.deleted_at is not None:
        return
    try:
        await refresh(work.find(ActorFetches).works, account, FetchChain())
    except FetchFailed as failed:
        work.log("people.not_refreshed", account_id=account.id, why=failed.reason)


async def look_for_stale(work: Work, _payload: LookForStale) -> None:
    ids = await store.stale(work.db, before=work.now - WEEK, since=work.now - LATELY, most=AT_ONCE)
    for id in ids:
        work.enqueue(REFRESH, RefreshActor(account_id=id), key=str(id))


REFRESH: JobKind[RefreshActor] = JobKind(
    name="federation_people.refresh",
    payload=RefreshActor,
    handler=refresh_actor,
    outside=True,
    concurrency=4,
    attempts=3,
    is_harmless=True,
)
LOOK_FOR_STALE: JobKind[LookForStale] = JobKind(
    name="federation_people.look_for_stale", payload=LookForStale, handler=look_for_stale, is_harmless=True
)
