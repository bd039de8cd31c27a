from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Instant, Session, command, query, upsert
from kith.identity.guessing.tables import known_addresses

KEPT = timedelta(days=30)

_last = query(
    select(known_addresses.c.last_at).where(
        and_(known_addresses.c.user_id == bindparam("user"), known_addresses.c.address == bindparam("address"))
    ),
    datetime,
)
_new = upsert(known_addresses).values(
    user_id=bindparam("user"), address=bindparam("address"), last_at=bindparam("now", type_=Instant())
)
_remember = command(
    _new.on_conflict_do_update(
        index_elements=[known_addresses.c.user_id, known_addresses.c.address],
        set_={"last_at": _new.excluded.last_at},
    ).inline()
)
_old = command(delete(known_addresses).where(known_addresses.c.last_at <= bindparam("before", type_=Instant())))


async def last_entered(db: Session, user_id: int, address: str) -> datetime | None:
    return await db.one(_last, user=user_id, address=address)


async def remember(db: Session, user_id: int, address: str, now: datetime) -> None:
    await db.run(_remember, user=user_id, address=address, now=now)


async def forget_old(db: Session, now: datetime) -> None:
    await db.run(_old, before=now - KEPT)
