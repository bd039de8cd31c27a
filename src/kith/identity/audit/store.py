from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Instant, Session, command, insert_into, query
from kith.identity.audit.tables import BY_PROGRAMS, LOGINS, Event, events

_insert = command(insert_into(events))
_expired = command(delete(events).where(events.c.expires_at < bindparam("now", type_=Instant())))
_newest = query(select(events).order_by(events.c.created_at.desc()).limit(bindparam("most")), Event)
_of_user = query(
    select(events)
    .where(events.c.user_id == bindparam("user"))
    .order_by(events.c.created_at.desc(), events.c.event_uuid)
    .limit(bindparam("most"))
    .offset(bindparam("skip")),
    Event,
)


_logins = query(
    select(events.c.created_at, events.c.context)
    .where(and_(events.c.user_id == bindparam("user"), LOGINS, events.c.app.not_in(BY_PROGRAMS)))
    .order_by(events.c.created_at.desc())
    .limit(bindparam("most")),
    tuple,
)
_by_program = query(
    select(events.c.event_uuid)
    .where(
        and_(
            events.c.user_id == bindparam("user"),
            LOGINS,
            events.c.app == bindparam("app"),
            events.c.client_ip == bindparam("address"),
            events.c.created_at > bindparam("since", type_=Instant()),
        )
    )
    .limit(1),
    str,
)


async def insert(db: Session, event: Event) -> None:
    await db.run(_insert, **{name: getattr(event, name) for name in Event.__struct_fields__})


async def newest(db: Session, most: int) -> list[Event]:
    return await db.all(_newest, most=most)


async def of_user(db: Session, user_id: int, most: int, *, skip: int = 0) -> list[Event]:
    return await db.all(_of_user, user=user_id, most=most, skip=skip)


async def logins_of(db: Session, user_id: int, most: int) -> list[tuple[datetime, dict[str, Any]]]:
    """When somebody signed in themselves, and what was recorded then; the latest first.

    Where programs are that hand over people's passwords says nothing of where the people are.
    """
    return await db.all(_logins, user=user_id, most=most)


async def has_login(db: Session, user_id: int, app: str, address: str, since: datetime) -> bool:
    """Whether a program has signed somebody in from this address since then."""
    return await db.one(_by_program, user=user_id, app=app, address=address, since=since) is not None


async def delete_expired(db: Session, now: datetime) -> int:
    return await db.run(_expired, now=now)
