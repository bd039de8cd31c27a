"""Who blocks whom."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, bindparam, or_, select

from kith.base.db import Session, add_once, any_of, command, query
from kith.social.ids import AccountId
from kith.social.relationships.store.common import ME, OTHER, drop, pair
from kith.social.relationships.tables import Block, blocks

_blocked_among = query(
    select(blocks.c.target_id).where(and_(blocks.c.account_id == ME, any_of(blocks.c.target_id, "ids"))), AccountId
)
_between = query(
    select(blocks.c.id)
    .where(
        or_(
            pair(blocks),
            and_(blocks.c.account_id == OTHER, blocks.c.target_id == ME),
        )
    )
    .limit(1),
    int,
)
_add_block = command(add_once(blocks))
_drop_block = drop(blocks, Block)
_called = query(select(blocks).where(and_(blocks.c.account_id == ME, blocks.c.uri == bindparam("uri"))).limit(1), Block)


async def blocked_among(db: Session, me: AccountId, ids: Sequence[AccountId]) -> set[AccountId]:
    """Whom of these I block."""
    return set(await db.all(_blocked_among, me=me, ids=list(ids))) if ids else set()


async def blocks_between(db: Session, me: AccountId, other: AccountId) -> bool:
    """Whether either blocks the other."""
    return await db.one(_between, me=me, other=other) is not None


async def add_block(db: Session, block: Block) -> bool:
    return await db.run(_add_block, **{name: getattr(block, name) for name in Block.__struct_fields__}) == 1


async def drop_block(db: Session, me: AccountId, other: AccountId) -> Block | None:
    found: Block | None = await db.one(_drop_block, me=me, other=other)
    return found


async def block_called(db: Session, me: AccountId, uri: str) -> Block | None:
    """A block of mine, by what it is called."""
    return await db.one(_called, me=me, uri=uri)
