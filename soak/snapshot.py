"""What the database of a server holds: read past the server, as whoever restores it would find it."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import msgspec
from sqlalchemy import select

from kith.base.db import Session, connect, query
from kith.base.jobs.tables import DEAD, Job, jobs
from kith.base.settings import load
from kith.federation.delivery.tables import deliveries
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feeds
from kith.social.notifications.tables import notifications
from kith.social.relationships.tables import blocks, follows
from kith.social.statuses.tables import bookmarks, favourites, statuses
from soak.town import Site

__all__ = ["AccountRow", "NoticeRow", "PairRow", "Snapshot", "StatusRow", "is_at_work", "take_snapshot"]


class StatusRow(msgspec.Struct, frozen=True):
    id: int
    account_id: int
    uri: str
    visibility: int
    content: str
    reblog_of_id: int | None
    in_reply_to_id: int | None
    replies_count: int
    reblogs_count: int
    favourites_count: int
    deleted_at: datetime | None


class AccountRow(msgspec.Struct, frozen=True):
    id: int
    uri: str
    username: str
    domain: str
    statuses_count: int
    followers_count: int
    following_count: int


class PairRow(msgspec.Struct, frozen=True):
    account_id: int
    target_id: int


class NoticeRow(msgspec.Struct, frozen=True):
    account_id: int
    from_id: int
    type: str
    status_id: int | None


class FeedRow(msgspec.Struct, frozen=True):
    owner: int
    status_id: int


class DeliveryRow(msgspec.Struct, frozen=True):
    id: int
    domain: str
    attempts: int
    next_at: datetime


S, A, N, F, D = statuses.c, accounts.c, notifications.c, feeds.c, deliveries.c
_statuses = query(
    select(S.id, S.account_id, S.uri, S.visibility, S.content, S.reblog_of_id, S.in_reply_to_id, S.replies_count,
           S.reblogs_count, S.favourites_count, S.deleted_at),
    StatusRow,
)  # fmt: skip
_accounts = query(
    select(A.id, A.uri, A.username, A.domain, A.statuses_count, A.followers_count, A.following_count), AccountRow
)
_favourites = query(select(favourites.c.account_id, favourites.c.status_id.label("target_id")), PairRow)
_bookmarks = query(select(bookmarks.c.account_id, bookmarks.c.status_id.label("target_id")), PairRow)
_follows = query(select(follows.c.account_id, follows.c.target_id), PairRow)
_blocks = query(select(blocks.c.account_id, blocks.c.target_id), PairRow)
_notices = query(select(N.account_id, N.from_id, N.type, N.status_id), NoticeRow)
_feeds = query(select(F.owner, F.status_id), FeedRow)
_jobs = query(select(jobs), Job)
_deliveries = query(select(D.id, D.domain, D.attempts, D.next_at), DeliveryRow)


class Snapshot(msgspec.Struct):
    site: str
    statuses: list[StatusRow]
    accounts: list[AccountRow]
    favourites: list[PairRow]
    bookmarks: list[PairRow]
    follows: list[PairRow]
    blocks: list[PairRow]
    notices: list[NoticeRow]
    feeds: dict[int, list[int]]
    jobs: list[Job]
    deliveries: list[DeliveryRow]


async def take_snapshot(site: Site) -> Snapshot:
    database = await connect(load(site.town.environment), connections=1)
    try:
        session = database.session()
        homes: dict[int, list[int]] = defaultdict(list)
        for row in await session.all(_feeds):
            homes[row.owner].append(row.status_id)
        found = Snapshot(
            site.name, await session.all(_statuses), await session.all(_accounts), await session.all(_favourites),
            await session.all(_bookmarks), await session.all(_follows), await session.all(_blocks),
            await session.all(_notices), homes, await session.all(_jobs), await session.all(_deliveries),
        )  # fmt: skip
        await session.rollback()
        return found
    finally:
        await database.close()


async def is_at_work(site: Site) -> list[str]:
    """What is due, tried again, or was written by a clock that was ahead; on its way to another server too."""
    database = await connect(load(site.town.environment), connections=1)
    try:
        session: Session = database.session()
        now = datetime.now(UTC)
        left = [f"{site.name}: {_said(one)}" for one in await session.all(_jobs) if _is_waited_for(one, now)]
        left += [f"{site.name}: delivery to {one.domain}" for one in await session.all(_deliveries)]
        await session.rollback()
        return left
    finally:
        await database.close()


def _is_waited_for(job: Job, now: datetime) -> bool:
    if job.state == DEAD:
        return False
    return job.run_at <= now or job.attempts > 0 or job.created_at > now + timedelta(seconds=2)


def _said(job: Job) -> str:
    return f"{job.kind} ({job.attempts} attempts, {(job.error or '').strip().splitlines()[-1:]})"
