"""What people who live here have to do with somebody who moves, a stretch at a time."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, and_, bindparam, select

from kith.base.db import Query, Session, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.relationships.store.common import ME
from kith.social.relationships.tables import Block, Follow, Mute, account_notes, blocks, follows, mutes

__all__ = ["blocks_here", "find_note", "followers_here", "mutes_here", "notes_here"]


def _here(table: Table, row: type[Any]) -> Query[Any]:
    return query(
        select(table)
        .join(accounts, accounts.c.id == table.c.account_id)
        .where(and_(table.c.target_id == ME, table.c.id > bindparam("after"), accounts.c.domain == ""))
        .order_by(table.c.id)
        .limit(bindparam("most")),
        row,
    )


_followers, _blocks, _mutes = _here(follows, Follow), _here(blocks, Block), _here(mutes, Mute)
_notes = query(
    select(account_notes.c.account_id, account_notes.c.comment)
    .where(and_(account_notes.c.target_id == ME, account_notes.c.account_id > bindparam("after")))
    .order_by(account_notes.c.account_id)
    .limit(bindparam("most")),
    tuple,
)
_note = query(
    select(account_notes.c.comment).where(
        and_(account_notes.c.account_id == ME, account_notes.c.target_id == bindparam("other"))
    ),
    str,
)


async def followers_here(db: Session, account_id: AccountId, after: int, most: int) -> list[Follow]:
    return await db.all(_followers, me=account_id, after=after, most=most)


async def blocks_here(db: Session, account_id: AccountId, after: int, most: int) -> list[Block]:
    return await db.all(_blocks, me=account_id, after=after, most=most)


async def mutes_here(db: Session, account_id: AccountId, after: int, most: int) -> list[Mute]:
    return await db.all(_mutes, me=account_id, after=after, most=most)


async def notes_here(db: Session, account_id: AccountId, after: int, most: int) -> list[tuple[AccountId, str]]:
    """Whose they are, and what they say."""
    return await db.all(_notes, me=account_id, after=after, most=most)


async def find_note(db: Session, me: AccountId, other: AccountId) -> str:
    return await db.one(_note, me=me, other=other) or ""
