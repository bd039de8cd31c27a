"""The token of the set-up link, with which the first owner comes in."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, select, update

from kith.base.db import Instant, Session, command, query, upsert
from kith.identity.users.tables import setup

_new = upsert(setup).values(id=1, token_hash=bindparam("hash"), made_at=bindparam("now", type_=Instant()), used_at=None)
_offer = command(
    _new.on_conflict_do_update(
        index_elements=[setup.c.id],
        set_={"token_hash": _new.excluded.token_hash, "made_at": _new.excluded.made_at},
        where=setup.c.used_at.is_(None),
    ).inline()
)
_open = query(select(setup.c.token_hash).where(setup.c.used_at.is_(None)), str)
_use = command(
    update(setup)
    .where(and_(setup.c.token_hash == bindparam("hash"), setup.c.used_at.is_(None)))
    .values(used_at=bindparam("now", type_=Instant()))
)


async def offer(db: Session, token_hash: str, now: datetime) -> None:
    await db.run(_offer, hash=token_hash, now=now)


async def find_open(db: Session) -> str | None:
    return await db.one(_open)


async def use(db: Session, token_hash: str, now: datetime) -> bool:
    """Use up the set-up token; False if it was used before."""
    return await db.run(_use, hash=token_hash, now=now) == 1
