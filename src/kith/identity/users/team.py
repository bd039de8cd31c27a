"""Who looks after the server, by role."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, select

from kith.base.db import Session, any_of, query
from kith.identity.users.store import find_login_by_id
from kith.identity.users.tables import User, is_active, users

STAFF_ROLES = ("administrator", "owner")
TEAM = ("moderator", *STAFF_ROLES)  # who looks after people and what they write

_superusers = select(users.c.id).where(and_(users.c.role.in_(STAFF_ROLES), users.c.is_active))
_any_superuser = query(_superusers.limit(1), int)
_lasting_superusers = query(_superusers.where(users.c.expires.is_(None)).limit(2), int)
_team = query(
    select(users)
    .where(and_(users.c.role.in_(TEAM), is_active(), users.c.approved_at.is_not(None)))
    .order_by(users.c.id),
    User,
)
_administrators = query(select(users.c.id).where(and_(users.c.role.in_(STAFF_ROLES), any_of(users.c.id, "ids"))), int)


async def has_superuser(db: Session) -> bool:
    return await db.one(_any_superuser) is not None


async def is_last_superuser(db: Session, user_id: int) -> bool:
    """Whether no other active user administers this server by role, without an end that was set for them.

    Those who do are locked until this work ends, so that the last two cannot both be removed.
    """
    await db.hold("identity.staff")
    others = [found for found in await db.all(_lasting_superusers) if found != user_id]
    login = await find_login_by_id(db, user_id)
    return not others and login is not None and login.is_active and login.role in STAFF_ROLES


async def find_all(db: Session) -> list[User]:
    return await db.all(_team)


async def administrators(db: Session, ids: Sequence[int]) -> list[int]:
    return await db.all(_administrators, ids=list(ids))
