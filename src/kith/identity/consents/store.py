from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, or_, select

from kith.base.db import UID, Instant, Session, command, insert_into, query
from kith.identity.consents.tables import Consent, consents

_now = bindparam("now", type_=Instant())
_live = or_(consents.c.expires_at.is_(None), consents.c.expires_at > _now)
_theirs = and_(consents.c.user_id == bindparam("user"), consents.c.application == bindparam("application", type_=UID()))
_one = query(select(consents).where(and_(_theirs, _live)), Consent)
_of_user = query(
    select(consents)
    .where(and_(consents.c.user_id == bindparam("user"), _live))
    .order_by(consents.c.created_at, consents.c.consent_uuid),
    Consent,
)
_drop = command(delete(consents).where(_theirs))
_withdraw = command(
    delete(consents).where(
        and_(consents.c.user_id == bindparam("user"), consents.c.consent_uuid == bindparam("consent", type_=UID()))
    )
)
_insert = command(insert_into(consents))
_expired = command(delete(consents).where(consents.c.expires_at <= _now))


async def find(db: Session, user_id: int, application: str, now: datetime) -> Consent | None:
    return await db.one(_one, user=user_id, application=application, now=now)


async def of_user(db: Session, user_id: int, now: datetime) -> list[Consent]:
    return await db.all(_of_user, user=user_id, now=now)


async def save(db: Session, consent: Consent) -> None:
    await db.run(_drop, user=consent.user_id, application=consent.application)
    await db.run(_insert, **{name: getattr(consent, name) for name in Consent.__struct_fields__})


async def withdraw(db: Session, user_id: int, consent_uuid: str) -> bool:
    return await db.run(_withdraw, user=user_id, consent=consent_uuid) == 1


async def delete_expired(db: Session, now: datetime) -> None:
    await db.run(_expired, now=now)
