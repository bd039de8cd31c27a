from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import and_, bindparam, delete, func, select

from kith.base.db import Instant, Session, command, insert_into, query
from kith.identity.lost_names import keep_names_of_people
from kith.identity.signups.tables import Signup, signups
from kith.identity.users.tables import users


class Pending(msgspec.Struct):
    """Somebody who waits for staff to say yes or no."""

    id: int
    username: str
    name: str
    email: str
    created_at: datetime
    confirmed_at: datetime | None
    reason: str
    locale: str
    client_ip: str
    client_name: str


_told = [signups.c[name] for name in ("reason", "locale", "client_ip", "client_name")]
_insert = command(insert_into(signups))
_one = query(select(signups).where(signups.c.user_id == bindparam("user")), Signup)
_pending = query(
    select(
        users.c.id,
        users.c.username,
        users.c.name,
        users.c.email,
        users.c.created_at,
        users.c.confirmed_at,
        *(func.coalesce(column, "").label(column.name) for column in _told),
    )
    .select_from(users.outerjoin(signups, signups.c.user_id == users.c.id))
    .where(users.c.approved_at.is_(None))
    .order_by(users.c.created_at, users.c.id)
    .limit(bindparam("most")),
    Pending,
)
_old = select(signups.c.user_id).where(signups.c.created_at < bindparam("before", type_=Instant()))
# Only people who signed up themselves, not those made by staff.
_is_forgotten = and_(
    users.c.confirmed_at.is_(None),
    users.c.last_login_at.is_(None),
    users.c.role == "user",
    users.c.id.in_(_old),
)
_forgotten_people = query(select(users.c.id).where(_is_forgotten), int)
_forgotten = command(delete(users).where(_is_forgotten))


async def insert(db: Session, signup: Signup) -> None:
    await db.run(_insert, **{name: getattr(signup, name) for name in Signup.__struct_fields__})


async def find(db: Session, user_id: int) -> Signup | None:
    return await db.one(_one, user=user_id)


async def pending(db: Session, *, most: int) -> list[Pending]:
    """Who waits, longest first."""
    return await db.all(_pending, most=most)


async def delete_unconfirmed(db: Session, before: datetime) -> None:
    await keep_names_of_people(db, await db.all(_forgotten_people, before=before))
    await db.run(_forgotten, before=before)
