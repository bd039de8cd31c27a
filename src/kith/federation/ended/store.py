from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Instant, Session, command, query, upsert
from kith.federation.ended.tables import ended
from kith.social.ids import AccountId

KEPT = timedelta(hours=6)
LONGEST = 500  # with that of its actor an id has to fit into an index

_new = upsert(ended).values(uri=bindparam("uri"), actor=bindparam("actor"), until=bindparam("until", type_=Instant()))
_remember = command(
    _new.on_conflict_do_update(index_elements=["uri", "actor"], set_={"until": _new.excluded["until"]}).inline()
)
_now = bindparam("now", type_=Instant())
_is_ended = query(
    select(ended.c.uri).where(
        and_(ended.c.uri == bindparam("uri"), ended.c.actor == bindparam("actor"), ended.c.until > _now)
    ),
    str,
)
_until = query(
    select(ended.c.until).where(and_(ended.c.uri == bindparam("uri"), ended.c.actor == bindparam("actor"))), datetime
)
_forget_of = command(delete(ended).where(ended.c.actor == bindparam("actor")))
_forget = command(delete(ended).where(ended.c.until <= _now))


def _key(uri: str) -> str:
    return uri if len(uri) <= LONGEST else f"sha256:{hashlib.sha256(uri.encode()).hexdigest()}"


async def take_turn(db: Session, sender: AccountId) -> None:
    """Hold the sender to the end: of two processes neither would see what the other is about to begin or to end."""
    await db.hold(f"federation sender {sender}")


async def remember(db: Session, uri: str, actor: str, now: datetime) -> None:
    """`actor` says that `uri` is over: what comes under that id from the same actor for a while is too late."""
    await db.run(_remember, uri=_key(uri), actor=actor, until=now + KEPT)


async def is_ended(db: Session, uri: str, actor: str, now: datetime) -> bool:
    return await db.one(_is_ended, uri=_key(uri), actor=actor, now=now) is not None


async def ended_at(db: Session, uri: str, actor: str) -> datetime | None:
    """The moment that was given when it was remembered."""
    until = await db.one(_until, uri=_key(uri), actor=actor)
    return None if until is None else until - KEPT


async def forget_of(db: Session, actor: str) -> None:
    """Whoever signs with other keys only is somebody else under the same id: what they had ended is nothing to them."""
    await db.run(_forget_of, actor=actor)


async def forget(db: Session, now: datetime) -> None:
    await db.run(_forget, now=now)
