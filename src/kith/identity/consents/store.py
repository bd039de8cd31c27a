from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, column, delete, or_, select, table

from kith.base.db import UID, Instant, Session, any_of, command, insert_into, query
from kith.identity.consents.tables import Consent, consents

_now = bindparam("now", type_=Instant())
_live = or_(consents.c.expires_at.is_(None), consents.c.expires_at > _now)
_theirs = and_(consents.c.user_id == bindparam("user"), consents.c.application == bindparam("application", type_=UID()))
_own, _of_app = consents.c.app_id.is_(None), consents.c.app_id == bindparam("app")
_one = query(select(consents).where(and_(_theirs, _own, _live)), Consent)
_one_of_app = query(select(consents).where(and_(_theirs, _of_app, _live)), Consent)
_of_user = query(
    select(consents)
    .where(and_(consents.c.user_id == bindparam("user"), _live))
    .order_by(consents.c.created_at, consents.c.consent_uuid),
    Consent,
)
_drop = command(delete(consents).where(and_(_theirs, _own)))
_drop_of_app = command(delete(consents).where(and_(_theirs, _of_app)))
_forget_app = command(delete(consents).where(_of_app))
_withdraw = command(
    delete(consents).where(
        and_(consents.c.user_id == bindparam("user"), consents.c.consent_uuid == bindparam("consent", type_=UID()))
    )
)
_insert = command(insert_into(consents))
# Clients that registered themselves belong to another room; here only their names are told.
_apps = table("identity_oauth_apps", column("id"), column("name"))
_names_of_apps = query(
    select(consents.c.consent_uuid, _apps.c.name)
    .join(_apps, _apps.c.id == consents.c.app_id)
    .where(any_of(consents.c.consent_uuid, "ids")),
    tuple,
)
_app_of = query(select(consents.c.app_id).where(consents.c.consent_uuid == bindparam("consent", type_=UID())), tuple)
_expired = command(delete(consents).where(consents.c.expires_at <= _now))


async def find(
    db: Session, user_id: int, application: str, now: datetime, *, app_id: int | None = None
) -> Consent | None:
    if app_id is None:
        return await db.one(_one, user=user_id, application=application, now=now)
    return await db.one(_one_of_app, user=user_id, application=application, app=app_id, now=now)


async def of_user(db: Session, user_id: int, now: datetime) -> list[Consent]:
    return await db.all(_of_user, user=user_id, now=now)


async def save(db: Session, consent: Consent) -> None:
    if consent.app_id is None:
        await db.run(_drop, user=consent.user_id, application=consent.application)
    else:
        await db.run(_drop_of_app, user=consent.user_id, application=consent.application, app=consent.app_id)
    await db.run(_insert, **{name: getattr(consent, name) for name in Consent.__struct_fields__})


async def withdraw(db: Session, user_id: int, consent_uuid: str) -> bool:
    return await db.run(_withdraw, user=user_id, consent=consent_uuid) == 1


async def names_of_apps(db: Session, ids: Sequence[str]) -> dict[str, str]:
    """By consent, for those that clients were given which registered themselves."""
    return dict(await db.all(_names_of_apps, ids=list(ids))) if ids else {}


async def app_of(db: Session, consent_uuid: str) -> int | None:
    found = await db.one(_app_of, consent=consent_uuid)
    return None if found is None else found[0]


async def forget_app(db: Session, app_id: int) -> None:
    """Everybody is asked about this client anew."""
    await db.run(_forget_app, app=app_id)


async def delete_expired(db: Session, now: datetime) -> None:
    await db.run(_expired, now=now)
