from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import UID, Instant, Session, command, insert_into, query
from kith.identity.tokens.tables import ApiToken, tokens

_now = bindparam("now", type_=Instant())
_live = or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > _now)
_insert = command(insert_into(tokens))
_by_hash = query(select(tokens).where(and_(tokens.c.key_hash == bindparam("hash"), _live)), ApiToken)
_by_hash_even_expired = query(select(tokens).where(tokens.c.key_hash == bindparam("hash")), ApiToken)
_of_user = query(
    select(tokens).where(tokens.c.user_id == bindparam("user")).order_by(tokens.c.created_at, tokens.c.token_uuid),
    ApiToken,
)
_by_uuid = query(select(tokens).where(tokens.c.token_uuid == bindparam("token", type_=UID())), ApiToken)
_held = query(
    select(tokens).where(tokens.c.token_uuid == bindparam("token", type_=UID())).with_for_update(read=True), ApiToken
)
_delete = command(delete(tokens).where(tokens.c.token_uuid == bindparam("token", type_=UID())))
_used = command(update(tokens).where(tokens.c.token_uuid == bindparam("token", type_=UID())).values(last_used_at=_now))
_expired = command(delete(tokens).where(tokens.c.expires_at <= _now))


async def insert(db: Session, token: ApiToken) -> None:
    await db.run(_insert, **{name: getattr(token, name) for name in ApiToken.__struct_fields__})


async def find_live(db: Session, key_hash: str, now: datetime) -> ApiToken | None:
    return await db.one(_by_hash, hash=key_hash, now=now)


async def find(db: Session, token_uuid: str) -> ApiToken | None:
    return await db.one(_by_uuid, token=token_uuid)


async def hold(db: Session, token_uuid: str) -> ApiToken | None:
    """The same, and it stays until the transaction ends."""
    return await db.one(_held, token=token_uuid)


async def find_by_hash(db: Session, key_hash: str) -> ApiToken | None:
    """The token with this key, valid or not."""
    return await db.one(_by_hash_even_expired, hash=key_hash)


async def of_user(db: Session, user_id: int) -> list[ApiToken]:
    return await db.all(_of_user, user=user_id)


async def remove(db: Session, token_uuid: str) -> int:
    return await db.run(_delete, token=token_uuid)


async def touch(db: Session, token_uuid: str, now: datetime) -> None:
    await db.run(_used, token=token_uuid, now=now)


async def delete_expired(db: Session, now: datetime) -> int:
    return await db.run(_expired, now=now)
