"""What is asked about people elsewhere without anybody waiting for it."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base import asking
from kith.base.clocks import is_recent
from kith.base.counted_log import log_counted
from kith.base.http.sites import registrable_domain
from kith.base.jobs import MAKES_ROOM, JobKind
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
    return not account.is_local and (account.fetched_at is None or not is_recent(account.fetched_at, work.now, since))


def refresh_later(work: Work, account: Account) -> None:
    work.enqueue(REFRESH, RefreshActor(account_id=account.id), key=str(account.id))


async def refresh_actor(work: Work, payload: RefreshActor) -> None:
    account = await accounts.find(work.db, payload.account_id)
    if account is None or account.is_local or account.deleted_at is not None:
        return
    try:
        await refresh(work.find(ActorFetches).works, account, FetchChain())
    except FetchFailed as failed:
        log_counted("info", "people.not_refreshed", account_id=account.id, why=failed.reason)


async def look_for_stale(work: Work, _payload: LookForStale) -> None:
    ids = await store.stale(work.db, before=work.now - WEEK, since=work.now - LATELY, most=AT_ONCE)
    for account in (await accounts.find_all(work.db, ids)).values():
        with asking.caused_by(registrable_domain(account.domain)):
            refresh_later(work, account)


REFRESH: JobKind[RefreshActor] = JobKind(
    name="federation_people.refresh",
    payload=RefreshActor,
    handler=refresh_actor,
    outside=True,
    concurrency=4,
    **MAKES_ROOM,
    attempts=3,
    is_harmless=True,
)
LOOK_FOR_STALE: JobKind[LookForStale] = JobKind(
    name="federation_people.look_for_stale",
    payload=LookForStale,
    handler=look_for_stale,
    outside=True,
    is_harmless=True,
)
