"""All that somebody has set between themselves and others, for them to take along: by the others' names, in pages."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, func, select

from kith.base.db import Session, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.rules import lasts
from kith.social.relationships.store.common import ME
from kith.social.relationships.tables import blocks, domain_blocks, follows, mutes


class NamedFollow(NamedTuple):
    record: int
    id: AccountId
    username: str
    domain: str
    reblogs: bool
    notify: bool
    languages: list[str] | None


class NamedMute(NamedTuple):
    record: int
    id: AccountId
    username: str
    domain: str
    hide_notifications: bool


class NamedBlock(NamedTuple):
    record: int
    id: AccountId
    username: str
    domain: str


class TieCounts(NamedTuple):
    following: int
    muting: int
    blocking: int
    domain_blocking: int


def _named(table: Table, *more: ColumnElement[Any]) -> Select[Any]:
    return (
        select(table.c.id.label("record"), accounts.c.id, accounts.c.username, accounts.c.domain, *more)
        .select_from(table.join(accounts, accounts.c.id == table.c.target_id))
        .where(and_(table.c.account_id == ME, table.c.id > bindparam("after"), accounts.c.deleted_at.is_(None)))
        .order_by(table.c.id)
        .limit(bindparam("most"))
    )


def _count(table: Table) -> ColumnElement[int]:
    return select(func.count()).select_from(table).where(table.c.account_id == ME).scalar_subquery()


_follows = query(_named(follows, follows.c.reblogs, follows.c.notify, follows.c.languages), NamedFollow)
_mutes = query(_named(mutes, mutes.c.hide_notifications).where(lasts(mutes)), NamedMute)
_blocks = query(_named(blocks), NamedBlock)
_domains = query(
    select(domain_blocks.c.id, domain_blocks.c.domain)
    .where(and_(domain_blocks.c.account_id == ME, domain_blocks.c.id > bindparam("after")))
    .order_by(domain_blocks.c.id)
    .limit(bindparam("most")),
    tuple,
)
_counts = query(
    select(
        _count(follows).label("following"),
        _count(mutes).label("muting"),
        _count(blocks).label("blocking"),
        _count(domain_blocks).label("domain_blocking"),
    ),
    TieCounts,
)


async def follows_after(db: Session, me: AccountId, after: int, most: int) -> list[NamedFollow]:
    """Those that come behind a record, oldest first."""
    return await db.all(_follows, me=me, after=after, most=most)


async def mutes_after(db: Session, me: AccountId, now: datetime, after: int, most: int) -> list[NamedMute]:
    return await db.all(_mutes, me=me, now=now, after=after, most=most)


async def blocks_after(db: Session, me: AccountId, after: int, most: int) -> list[NamedBlock]:
    return await db.all(_blocks, me=me, after=after, most=most)


async def domain_blocks_after(db: Session, me: AccountId, after: int, most: int) -> list[tuple[int, str]]:
    return await db.all(_domains, me=me, after=after, most=most)


async def count_ties(db: Session, me: AccountId) -> TieCounts:
    found = await db.one(_counts, me=me)
    return found or TieCounts(0, 0, 0, 0)
