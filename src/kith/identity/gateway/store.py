from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import UID, Instant, Session, command, insert_into, query
from kith.identity.gateway.tables import GatewaySession, gateway_sessions
from kith.identity.sessions.tables import sessions

_now = bindparam("now", type_=Instant())
_insert = command(insert_into(gateway_sessions))
# The session at this server is deleted in the very transaction that ends it: by signing out, by a new password, or
# because its person was disabled.
_live = query(
    select(gateway_sessions)
    .join(sessions, sessions.c.session_uuid == gateway_sessions.c.session_uuid)
    .where(
        and_(
            gateway_sessions.c.key_hash == bindparam("hash"),
            gateway_sessions.c.expires_at > _now,
            sessions.c.expires_at > _now,
            sessions.c.user_id == gateway_sessions.c.user_id,
        )
    ),
    GatewaySession,
)
_move = command(
    update(gateway_sessions)
    .where(gateway_sessions.c.session_uuid == bindparam("old", type_=UID()))
    .values(session_uuid=bindparam("new", type_=UID()))
)
_end_of_session = command(
    delete(gateway_sessions).where(gateway_sessions.c.session_uuid == bindparam("session", type_=UID()))
)
_end_all = command(
    delete(gateway_sessions).where(
        and_(gateway_sessions.c.user_id == bindparam("user"), gateway_sessions.c.provider_id == bindparam("provider"))
    )
)
_expired = command(delete(gateway_sessions).where(gateway_sessions.c.expires_at <= _now))


async def insert(db: Session, row: GatewaySession) -> None:
    await db.run(_insert, **{name: getattr(row, name) for name in row.__struct_fields__})


async def find_live(db: Session, key_hash: str, now: datetime) -> GatewaySession | None:
    return await db.one(_live, hash=key_hash, now=now)


async def move(db: Session, old: str, new: str) -> None:
    """Signing in again at this server signs nobody out."""
    await db.run(_move, old=old, new=new)


async def end_of_session(db: Session, session_uuid: str) -> None:
    await db.run(_end_of_session, session=session_uuid)


async def end_all(db: Session, user_id: int, provider_id: int) -> int:
    return await db.run(_end_all, user=user_id, provider=provider_id)


async def delete_expired(db: Session, now: datetime) -> None:
    await db.run(_expired, now=now)
