from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, or_, select

from kith.base.db import Session, any_of, query
from kith.social.relationships.tables import blocks, follows

_me: BindParameter[Any] = bindparam("me")
_other: BindParameter[Any] = bindparam("other")
_following = query(select(follows.c.id).where(and_(follows.c.account_id == _me, follows.c.target_id == _other)), int)
_blocked_among = query(
    select(blocks.c.target_id).where(and_(blocks.c.account_id == _me, any_of(blocks.c.target_id, "ids"))), int
)
_between = query(
    select(blocks.c.id)
    .where(
        or_(
            and_(blocks.c.account_id == _me, blocks.c.target_id == _other),
            and_(blocks.c.account_id == _other, blocks.c.target_id == _me),
        )
    )
    .limit(1),
    int,
)


async def is_following(db: Session, me: int, other: int) -> bool:
    return await db.one(_following, me=me, other=other) is not None


async def blocked_among(db: Session, me: int, ids: Sequence[int]) -> set[int]:
    """Whom of these I block."""
    return set(await db.all(_blocked_among, me=me, ids=list(ids))) if ids else set()


async def blocks_between(db: Session, me: int, other: int) -> bool:
    """Whether either blocks the other."""
    return await db.one(_between, me=me, other=other) is not None
