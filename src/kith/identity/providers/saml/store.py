from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, exists, or_, select, update

from kith.base.db import UID, Instant, add_once, any_of, command, query
from kith.base.db import Session as Db
from kith.base.jobs.tables import is_waiting
from kith.identity.providers.saml.tables import SAMLSession, saml_sessions
from kith.identity.sessions.tables import sessions
from kith.identity.users.tables import is_active, users

AT_ONCE = 200
RENEWED_NAME = "identity.saml_session_renewed"  # the job that moves what belongs to a session to the next one

_now = bindparam("now", type_=Instant())
_session = saml_sessions.c.session_uuid == bindparam("session", type_=UID())
_provider = saml_sessions.c.provider_id == bindparam("provider")
_add = command(add_once(saml_sessions))
_at_provider = query(select(saml_sessions).where(and_(_session, _provider)), SAMLSession)
_of_session = query(select(saml_sessions).where(_session).order_by(saml_sessions.c.created_at), SAMLSession)
_of_user = query(select(saml_sessions).where(saml_sessions.c.user_id == bindparam("user")), SAMLSession)
_of_provider = query(select(saml_sessions).where(_provider), SAMLSession)
_named = query(
    select(saml_sessions).where(and_(_provider, saml_sessions.c.name_id == bindparam("name_id"))).limit(AT_ONCE),
    SAMLSession,
)
_refresh = command(
    update(saml_sessions)
    .where(and_(_session, _provider))
    .values(
        name_id=bindparam("new_name"),
        name_id_format=bindparam("new_format"),
        issuer=bindparam("new_issuer"),
        expires_at=bindparam("until", type_=Instant()),
    )
)
_take = query(
    delete(saml_sessions).where(any_of(saml_sessions.c.saml_session_uuid, "ids")).returning(saml_sessions), SAMLSession
)
_forget = command(delete(saml_sessions).where(saml_sessions.c.saml_session_uuid == bindparam("one", type_=UID())))
_renew = command(update(saml_sessions).where(_session).values(session_uuid=bindparam("new", type_=UID())))
_page = query(
    select(saml_sessions)
    .where(saml_sessions.c.saml_session_uuid > bindparam("after", type_=UID()))
    .order_by(saml_sessions.c.saml_session_uuid)
    .limit(AT_ONCE),
    SAMLSession,
)
_has_session = exists().where(sessions.c.session_uuid == saml_sessions.c.session_uuid)
_has_person = exists().where(and_(users.c.id == saml_sessions.c.user_id, is_active()))
_is_over = or_(~_has_session, ~_has_person)
_left = query(select(saml_sessions).where(and_(_is_over, ~is_waiting(RENEWED_NAME))).limit(AT_ONCE), SAMLSession)
_expired = command(delete(saml_sessions).where(saml_sessions.c.expires_at <= _now))


async def session_at(db: Db, session_uuid: str, provider_id: int) -> SAMLSession | None:
    return await db.one(_at_provider, session=session_uuid, provider=provider_id)


async def note_session(db: Db, made: SAMLSession) -> None:
    """Store it, or bring the one that is there up to date."""
    await db.run(_add, **{name: getattr(made, name) for name in SAMLSession.__struct_fields__})
    await db.run(
        _refresh,
        session=made.session_uuid,
        provider=made.provider_id,
        new_name=made.name_id,
        new_format=made.name_id_format,
        new_issuer=made.issuer,
        until=made.expires_at,
    )


async def of_session(db: Db, session_uuid: str) -> list[SAMLSession]:
    return await db.all(_of_session, session=session_uuid)


async def of_user(db: Db, user_id: int) -> list[SAMLSession]:
    return await db.all(_of_user, user=user_id)


async def of_provider(db: Db, provider_id: int) -> list[SAMLSession]:
    return await db.all(_of_provider, provider=provider_id)


async def named(db: Db, provider_id: int, name_id: str) -> list[SAMLSession]:
    return await db.all(_named, provider=provider_id, name_id=name_id)


async def page(db: Db, after: str) -> list[SAMLSession]:
    return await db.all(_page, after=after)


async def left(db: Db) -> list[SAMLSession]:
    """Those whose end nobody announced: the session has expired, or the person is gone."""
    return await db.all(_left)


async def take(db: Db, found: Sequence[SAMLSession]) -> list[SAMLSession]:
    """Delete these; returns those that no other work has deleted."""
    return await db.all(_take, ids=[one.saml_session_uuid for one in found]) if found else []


async def forget(db: Db, saml_session_uuid: str) -> None:
    await db.run(_forget, one=saml_session_uuid)


async def renew(db: Db, old: str, new: str) -> None:
    await db.run(_renew, session=old, new=new)


async def sweep(db: Db, now: datetime) -> None:
    await db.run(_expired, now=now)
