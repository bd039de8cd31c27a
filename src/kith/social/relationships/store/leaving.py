"""Everybody an account has to do with, for when it goes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, bindparam, delete, func, select, union_all

from kith.base.db import Session, any_of, command, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
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

_lost_follows = query(
    select(follows.c.account_id, func.count())
    .join(accounts, accounts.c.id == follows.c.account_id)
    .where(and_(any_of(follows.c.target_id, "ids"), accounts.c.domain == ""))
    .group_by(follows.c.account_id),
    tuple,
)
_lost_followers = query(
    select(follows.c.target_id, func.count())
    .join(accounts, accounts.c.id == follows.c.target_id)
    .where(and_(any_of(follows.c.account_id, "ids"), accounts.c.domain == ""))
    .group_by(follows.c.target_id),
    tuple,
)


async def lost_with(db: Session, ids: Sequence[AccountId]) -> dict[AccountId, tuple[int, int]]:
    """How many followers, and how many people they follow, each person here loses when these accounts go."""
    followers: dict[AccountId, int] = dict(await db.all(_lost_followers, ids=list(ids)))
    following: dict[AccountId, int] = dict(await db.all(_lost_follows, ids=list(ids)))
    return {id: (followers.get(id, 0), following.get(id, 0)) for id in sorted({*followers, *following})}
