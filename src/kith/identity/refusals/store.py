from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete, func, select

from kith.base.db import Instant, Session, add_once, command, query
from kith.identity.refusals.tables import Refusal, refusals

_add = command(add_once(refusals))
_find = query(select(refusals).where(refusals.c.code == bindparam("code")), Refusal)
_latest = query(
    select(refusals)
    .order_by(refusals.c.created_at.desc(), refusals.c.code)
    .limit(bindparam("most"))
    .offset(bindparam("start")),
    Refusal,
)
_count = query(select(func.count()).select_from(refusals), int)
_expired = command(delete(refusals).where(refusals.c.expires_at < bindparam("now", type_=Instant())))
_too_many = command(
    delete(refusals).where(
        refusals.c.created_at
        < select(refusals.c.created_at)
        .order_by(refusals.c.created_at.desc())
        .limit(1)
        .offset(bindparam("most"))
        .scalar_subquery()
    )
)


async def add(db: Session, refusal: Refusal) -> bool:
    """Store a refusal; False if its code is taken."""
    return await db.run(_add, **{name: getattr(refusal, name) for name in Refusal.__struct_fields__}) == 1


async def find(db: Session, code: str) -> Refusal | None:
    return await db.one(_find, code=code)


async def latest(db: Session, *, most: int, start: int = 0) -> list[Refusal]:
    return await db.all(_latest, most=most, start=start)


async def count(db: Session) -> int:
    return await db.one(_count) or 0


async def delete_expired(db: Session, now: datetime, *, most: int) -> None:
    """Delete what has expired, and the oldest beyond `most`, so that refusals cannot fill the disk."""
    await db.run(_expired, now=now)
    await db.run(_too_many, most=most)
