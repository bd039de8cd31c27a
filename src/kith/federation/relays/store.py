from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import Instant, Session, command, insert_into, query
from kith.federation.people.tables import actors
from kith.federation.relays.tables import FederationRelay, relays
from kith.social.ids import AccountId

_every = query(select(relays).order_by(relays.c.id), FederationRelay)
_find = query(select(relays).where(relays.c.id == bindparam("id")), FederationRelay)
_by_inbox = query(select(relays).where(relays.c.inbox == bindparam("inbox")), FederationRelay)
_by_follow = query(select(relays).where(relays.c.follow_uri == bindparam("uri")), FederationRelay)
_enabled = query(select(relays.c.inbox).where(relays.c.state == "enabled").order_by(relays.c.id), str)
_insert = command(insert_into(relays))
_remove = command(delete(relays).where(relays.c.id == bindparam("id")))
_answer = command(
    update(relays)
    .where(relays.c.id == bindparam("id"))
    .values(state=bindparam("new_state"), answered_at=bindparam("now", type_=Instant()))
)
_is_relay = query(
    select(relays.c.id)
    .select_from(actors.join(relays, or_(relays.c.inbox == actors.c.inbox, relays.c.inbox == actors.c.shared_inbox)))
    .where(and_(actors.c.account_id == bindparam("account"), relays.c.state == "enabled"))
    .limit(1),
    int,
)


async def every(db: Session) -> list[FederationRelay]:
    return await db.all(_every)


async def find(db: Session, id: int) -> FederationRelay | None:
    return await db.one(_find, id=id)


async def find_by_inbox(db: Session, inbox: str) -> FederationRelay | None:
    return await db.one(_by_inbox, inbox=inbox)


async def find_by_follow(db: Session, uri: str) -> FederationRelay | None:
    return await db.one(_by_follow, uri=uri)


async def enabled_inboxes(db: Session) -> list[str]:
    """Where public posts are sent beside their readers."""
    return await db.all(_enabled)


async def insert(db: Session, relay: FederationRelay) -> None:
    """Raises `Taken` where there is one with that inbox."""
    await db.run(_insert, **msgspec.structs.asdict(relay))


async def remove(db: Session, id: int) -> None:
    await db.run(_remove, id=id)


async def answer(db: Session, id: int, state: str, now: datetime | None) -> None:
    await db.run(_answer, id=id, new_state=state, now=now)


async def is_relay(db: Session, account_id: AccountId) -> bool:
    """Whether an account is a relay that has let us in: what it announces is only a hint at something to fetch."""
    return await db.one(_is_relay, account=account_id) is not None
