"""Everybody an account has to do with, for when it goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, delete, func, or_, select, union_all

from kith.base.db import Query, Session, alias_of, any_of, any_row, command, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.facts import LostFollow
from kith.social.relationships.store.common import ME
from kith.social.relationships.tables import (
    account_notes,
    blocks,
    domain_blocks,
    endorsements,
    follow_requests,
    follows,
    mutes,
)

_tied = query(
    union_all(
        *(
            select(theirs).where(mine == ME)
            for table in (follows, follow_requests)
            for mine, theirs in (
                (table.c.account_id, table.c.target_id),
                (table.c.target_id, table.c.account_id),
            )
        )
    ).limit(bindparam("most")),
    AccountId,
)
_forget_own = [
    command(delete(table).where(table.c.account_id == ME))
    for table in (blocks, mutes, endorsements, domain_blocks, account_notes)
]


async def tied_to(db: Session, me: AccountId, most: int) -> set[AccountId]:
    """Some of those who follow me, whom I follow, or where either asked to."""
    return set(await db.all(_tied, me=me, most=most))


async def forget_own(db: Session, me: AccountId) -> None:
    """Whom somebody blocked, muted, endorsed or took notes of."""
    for statement in _forget_own:
        await db.run(statement, me=me)


# What people here lose with accounts that go

_other = alias_of(accounts, "other")
_is_shut_out = and_(_other.c.domain == bindparam("domain"), _other.c.suspended_at.is_not(None))


def _lost(following: bool, which: ColumnElement[bool]) -> Query[Any]:
    mine, theirs = (follows.c.account_id, follows.c.target_id)[:: 1 if following else -1]
    return query(
        select(
            mine.label("mine"),
            _other.c.username,
            _other.c.domain,
            follows.c.reblogs,
            follows.c.notify,
            follows.c.languages,
        )
        .select_from(follows.join(_other, _other.c.id == theirs).join(accounts, accounts.c.id == mine))
        .where(and_(which, accounts.c.domain == ""))
        .order_by(follows.c.id),
        tuple,
    )


def _both(which: ColumnElement[bool]) -> dict[bool, Query[Any]]:
    return {following: _lost(following, which) for following in (True, False)}


_lost_with = _both(any_of(_other.c.id, "ids"))
_lost_at = _both(_is_shut_out)
_own_lost_at = _both(and_(_other.c.domain == bindparam("domain"), accounts.c.id == ME))
_has_tie = or_(
    *(
        any_row(table, side == _other.c.id)
        for table in (follows, follow_requests)
        for side in (table.c.account_id, table.c.target_id)
    )
)
_tied_at = query(
    select(_other.c.id).where(and_(_is_shut_out, _has_tie)).order_by(_other.c.id).limit(bindparam("most")), AccountId
)


async def _read(db: Session, queries: dict[bool, Query[Any]], **values: Any) -> list[LostFollow]:
    return [
        LostFollow(mine, following, f"{username}@{domain}" if domain else username, reblogs, notify, languages)
        for following, statement in queries.items()
        for mine, username, domain, reblogs, notify, languages in await db.all(statement, **values)
    ]


async def lost_with(db: Session, ids: Sequence[AccountId]) -> list[LostFollow]:
    """What people here lose when these accounts go."""
    return await _read(db, _lost_with, ids=list(ids))


async def lost_at(db: Session, domain: str) -> list[LostFollow]:
    """What people here lose with the suspended accounts of a domain."""
    return await _read(db, _lost_at, domain=domain)


async def own_lost_at(db: Session, me: AccountId, domain: str) -> list[LostFollow]:
    """What I lose with everybody at a domain."""
    return await _read(db, _own_lost_at, me=me, domain=domain)


async def tied_at(db: Session, domain: str, most: int) -> list[AccountId]:
    """Suspended accounts of a domain that still follow somebody, are followed, or where either asked to."""
    return await db.all(_tied_at, domain=domain, most=most)


_count_at = query(
    select(func.count())
    .select_from(follows.join(_other, or_(_other.c.id == follows.c.target_id, _other.c.id == follows.c.account_id)))
    .where(and_(any_of(_other.c.domain, "domains"), _other.c.suspended_at.is_(None))),
    int,
)


async def count_with(db: Session, domains: Sequence[str]) -> int:
    """How many follows there are between people here and accounts of these domains that are not suspended."""
    return await db.one(_count_at, domains=list(domains)) or 0 if domains else 0
