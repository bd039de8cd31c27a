"""Members: people with a confirmed address who were approved, and are not past their end."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, func, or_, select

from kith.base.db import Instant, Session, not_over, query
from kith.identity.users.tables import MEMBERS, User, users

_is_member = and_(MEMBERS, not_over(users.c.expires))
_count_members = query(select(func.count()).select_from(users).where(_is_member), int)
_since = bindparam("since", type_=Instant())
_joined = query(
    select(users.c.confirmed_at, users.c.approved_at).where(
        and_(
            users.c.type == "internal",
            users.c.confirmed_at.is_not(None),
            users.c.approved_at.is_not(None),
            or_(users.c.confirmed_at >= _since, users.c.approved_at >= _since),
        )
    ),
    tuple,
)
_members = query(
    select(users)
    .where(and_(_is_member, users.c.id > bindparam("after")))
    .order_by(users.c.id)
    .limit(bindparam("limit")),
    User,
)


async def count(db: Session) -> int:
    return await db.one(_count_members) or 0


async def joined_since(db: Session, since: datetime) -> list[datetime]:
    """When people became members: they had confirmed their address, and were approved."""
    return [max(confirmed_at, approved_at) for confirmed_at, approved_at in await db.slow(_joined, since=since)]


async def page(db: Session, *, after: int, limit: int) -> list[User]:
    """Those whom `count` counts, by their ids."""
    return await db.all(_members, after=after, limit=limit)
