"""Visits: at which clients a session has signed somebody in, so that they can be told when it ends."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, exists, or_, select, update

from kith.base.db import UID, Instant, add_once, any_of, command, query
from kith.base.jobs.tables import is_waiting
from kith.base.work import Work
from kith.identity.providers.family import providers
from kith.identity.providers.oauth2.claims.claims import sid_of, subject
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.tables import Grant, Visit, grants, visits
from kith.identity.sessions.tables import sessions
from kith.identity.users.tables import User, is_active, users

AT_ONCE = 200
RENEWED_NAME = "identity.oauth_session_renewed"  # the job that moves what belongs to a session to the next one

_uuid = bindparam("session", type_=UID())
_add = command(add_once(visits))
_of_session = query(select(visits).where(visits.c.session_uuid == _uuid), Visit)
_of_user = query(select(visits).where(visits.c.user_id == bindparam("user")), Visit)
_of_provider = query(select(visits).where(visits.c.provider_id == bindparam("provider")), Visit)
_of_client = query(select(visits).where(visits.c.client_id == bindparam("client")), Visit)
_take = query(delete(visits).where(any_of(visits.c.visit_uuid, "ids")).returning(visits), Visit)
_renew = command(
    update(visits).where(visits.c.session_uuid == _uuid).values(session_uuid=bindparam("new", type_=UID()))
)
_page = query(
    select(visits)
    .where(visits.c.visit_uuid > bindparam("after", type_=UID()))
    .order_by(visits.c.visit_uuid)
    .limit(AT_ONCE),
    Visit,
)
# Visits whose end was not announced: the session has expired, or the user is gone. Not while some are about to move.
_has_session = exists().where(sessions.c.session_uuid == visits.c.session_uuid)
_has_person = exists().where(and_(users.c.id == visits.c.user_id, is_active()))
_has_provider = exists().where(providers.c.id == visits.c.provider_id)
_is_over = or_(and_(visits.c.session_uuid.is_not(None), ~_has_session), ~_has_person)
_left = query(select(visits).where(and_(_is_over, ~is_waiting(RENEWED_NAME))).limit(AT_ONCE), Visit)
# Nobody can be told about a provider that is gone, and one visit that outlasted its session is of no more use once
# nothing was left to the client.
_has_grant = exists().where(and_(grants.c.client_id == visits.c.client_id, grants.c.user_id == visits.c.user_id))
_idle = command(
    delete(visits).where(
        or_(
            ~_has_provider,
            and_(
                visits.c.session_uuid.is_(None), ~_has_grant, visits.c.created_at < bindparam("before", type_=Instant())
            ),
        )
    )
)


async def note(work: Work, client: Client, grant: Grant, user: User) -> None:
    """Store that this client was given the person's identity. Apps of the social half cannot be notified."""
    if client.provider_id is None:
        return
    await _insert(work, visit_of(work, client, grant, user))


def visit_of(work: Work, client: Client, grant: Grant, user: User) -> Visit:
    assert client.provider_id is not None  # noqa: S101 - asked for clients of providers only
    return Visit(
        visit_uuid=str(uuid.uuid4()),
        client_id=client.client_id,
        provider_id=client.provider_id,
        user_id=user.id,
        session_uuid=grant.session_uuid,
        sid=sid_of(grant) or "",
        sub=subject(work, client, user),
        issuer=client.issuer(work.settings.base_url),
        client_ip=work.origin.address[:45],
        created_at=work.now,
    )


async def outlast(work: Work, visit: Visit) -> None:
    """The session has ended, but the client keeps its refresh token."""
    lasting = Visit(**{name: getattr(visit, name) for name in Visit.__struct_fields__})
    lasting.visit_uuid, lasting.session_uuid, lasting.sid = str(uuid.uuid4()), None, ""
    await _insert(work, lasting)


async def _insert(work: Work, visit: Visit) -> None:
    await work.db.run(_add, **{name: getattr(visit, name) for name in Visit.__struct_fields__})


async def of_session(work: Work, session_uuid: str) -> list[Visit]:
    return await work.db.all(_of_session, session=session_uuid)


async def of_user(work: Work, user_id: int) -> list[Visit]:
    return await work.db.all(_of_user, user=user_id)


async def last_seen(work: Work, user_id: int, client_id: str) -> str | None:
    """Where the person was when they last signed in at this client: its server, which asks now, is somewhere else."""
    found = [visit for visit in await of_user(work, user_id) if visit.client_id == client_id]
    return max(found, key=lambda visit: visit.created_at).client_ip if found else None


async def of_provider(work: Work, provider_id: int) -> list[Visit]:
    return await work.db.all(_of_provider, provider=provider_id)


async def of_client(work: Work, client_id: str) -> list[Visit]:
    return await work.db.all(_of_client, client=client_id)


async def page(work: Work, after: str) -> list[Visit]:
    return await work.db.all(_page, after=after)


async def left(work: Work) -> list[Visit]:
    return await work.db.all(_left)


async def take(work: Work, found: Sequence[Visit]) -> list[Visit]:
    """Delete these visits; returns those that no other work has deleted."""
    return await work.db.all(_take, ids=[visit.visit_uuid for visit in found]) if found else []


async def renew(work: Work, old: str, new: str) -> None:
    await work.db.run(_renew, session=old, new=new)


async def delete_idle(work: Work, before: datetime) -> None:
    await work.db.run(_idle, before=before)
