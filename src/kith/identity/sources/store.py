"""Statements on connections, attempts and sessions of sources."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import UID, Instant, Session, add_once, any_of, command, insert_into, query
from kith.identity.groups.tables import groups, members
from kith.identity.sources.family import sources
from kith.identity.sources.tables import (
    GroupConnection,
    UserConnection,
    attempts,
    group_connections,
    seen_messages,
    source_sessions,
    user_connections,
)


class Source(msgspec.Struct):
    """As much of a source as every kind of it needs when somebody comes from it."""

    pbm_uuid: str
    kind: str
    name: str
    slug: str
    enabled: bool
    authentication_flow: str | None
    enrollment_flow: str | None
    policy_engine_mode: str
    user_matching_mode: str
    user_path_template: str
    icon: str
    promoted: bool
    set_up_by: int | None


class LinkedSource(msgspec.Struct):
    """A connection of somebody, with what its source is called."""

    connection_uuid: str
    source: str
    source_name: str
    kind: str
    identifier: str
    dn: str | None
    created_at: datetime


_source_columns = [sources.c[name] for name in Source.__struct_fields__]
_source_id = bindparam("source", type_=UID())
_now = bindparam("now", type_=Instant())
_by_slug = query(select(*_source_columns).where(and_(sources.c.slug == bindparam("slug"), sources.c.enabled)), Source)
_by_id = query(select(*_source_columns).where(sources.c.pbm_uuid == _source_id), Source)
_enabled = query(
    select(*_source_columns)
    .where(sources.c.enabled)
    .order_by(sources.c.promoted.desc(), sources.c.name, sources.c.slug),
    Source,
)

_connection = query(
    select(user_connections).where(
        and_(user_connections.c.source == _source_id, user_connections.c.identifier == bindparam("identifier"))
    ),
    UserConnection,
)
_add_connection = command(add_once(user_connections))
_keep_token = command(
    update(user_connections)
    .where(user_connections.c.connection_uuid == bindparam("connection", type_=UID()))
    .values(access_token=bindparam("token"), updated_at=_now)
)
_linked = query(
    select(
        user_connections.c.connection_uuid,
        user_connections.c.source,
        sources.c.name.label("source_name"),
        user_connections.c.kind,
        user_connections.c.identifier,
        user_connections.c.dn,
        user_connections.c.created_at,
    )
    .join(sources, sources.c.pbm_uuid == user_connections.c.source)
    .where(user_connections.c.user == bindparam("user"))
    .order_by(sources.c.name, user_connections.c.created_at),
    LinkedSource,
)
_unlink = command(
    delete(user_connections).where(
        and_(
            user_connections.c.connection_uuid == bindparam("connection", type_=UID()),
            user_connections.c.user == bindparam("user"),
        )
    )
)

_group_connection = query(
    select(group_connections).where(
        and_(group_connections.c.source == _source_id, any_of(group_connections.c.identifier, "identifiers"))
    ),
    GroupConnection,
)
_add_group_connection = command(add_once(group_connections))
_groups_named = query(select(groups.c.name, groups.c.group_uuid).where(any_of(groups.c.name, "names")), tuple)
_add_group = command(insert_into(groups))
_of_source = query(
    select(members.c.group_uuid)
    .join(group_connections, group_connections.c.group == members.c.group_uuid)
    .where(and_(members.c.user_id == bindparam("user"), group_connections.c.source == _source_id))
    .distinct(),
    str,
)
_join = command(add_once(members, without=["expires"]))
_leave = command(
    delete(members).where(and_(members.c.user_id == bindparam("user"), any_of(members.c.group_uuid, "groups")))
)

_add_attempt = command(insert_into(attempts))
_claim_attempt = query(
    delete(attempts)
    .where(
        and_(
            attempts.c.key_hash == bindparam("hash"),
            attempts.c.source == _source_id,
            attempts.c.session_uuid == bindparam("session", type_=UID()),
            attempts.c.expires_at > _now,
        )
    )
    .returning(attempts.c.data),
    str,
)
_old_attempts = command(delete(attempts).where(attempts.c.expires_at <= _now))

_forget_session = command(
    delete(source_sessions).where(source_sessions.c.session_uuid == bindparam("session_uuid", type_=UID()))
)
_add_session = command(insert_into(source_sessions))
_sessions = query(
    select(source_sessions.c.session_uuid).where(
        and_(
            source_sessions.c.source == _source_id,
            or_(bindparam("remote") == "", source_sessions.c.remote_session == bindparam("remote")),
            or_(bindparam("identifier") == "", source_sessions.c.identifier == bindparam("identifier")),
        )
    ),
    str,
)
_add_message = command(add_once(seen_messages))
_old_messages = command(delete(seen_messages).where(seen_messages.c.expires_at <= _now))


async def find_source(db: Session, slug: str) -> Source | None:
    """An enabled one."""
    return await db.one(_by_slug, slug=slug)


async def find_source_by_id(db: Session, pbm_uuid: str) -> Source | None:
    return await db.one(_by_id, source=pbm_uuid)


async def enabled_sources(db: Session) -> list[Source]:
    return await db.all(_enabled)


async def find_connection(db: Session, source: str, identifier: str) -> UserConnection | None:
    return await db.one(_connection, source=source, identifier=identifier)


async def add_connection(
    db: Session,
    source: Source,
    user_id: int,
    identifier: str,
    access_token: str | None,
    now: datetime,
    *,
    id: str | None = None,
    is_made_here: bool = False,
) -> bool:
    """False if the identifier is connected already, to whomever."""
    made = await db.run(
        _add_connection,
        connection_uuid=id or str(uuid.uuid4()),
        source=source.pbm_uuid,
        kind=source.kind,
        user=user_id,
        identifier=identifier,
        access_token=access_token,
        reference=None,
        dn=None,
        seen_in=None,
        is_made_here=is_made_here,
        created_at=now,
        updated_at=now,
    )
    return made == 1


async def keep_token(db: Session, connection_uuid: str, access_token: str | None, now: datetime) -> None:
    await db.run(_keep_token, connection=connection_uuid, token=access_token, now=now)


async def linked(db: Session, user_id: int) -> list[LinkedSource]:
    return await db.all(_linked, user=user_id)


async def unlink(db: Session, user_id: int, connection_uuid: str) -> bool:
    return await db.run(_unlink, connection=connection_uuid, user=user_id) == 1


async def connected_groups(db: Session, source: str, identifiers: Sequence[str]) -> dict[str, str]:
    """Our groups by what the source calls them."""
    found = await db.all(_group_connection, source=source, identifiers=list(identifiers))
    return {one.identifier: one.group for one in found}


async def connect_group(
    db: Session,
    source: Source,
    group_uuid: str,
    identifier: str,
    now: datetime,
    *,
    id: str | None = None,
    is_made_here: bool = False,
) -> None:
    await db.run(
        _add_group_connection,
        connection_uuid=id or str(uuid.uuid4()),
        source=source.pbm_uuid,
        kind=source.kind,
        group=group_uuid,
        identifier=identifier,
        reference=None,
        seen_in=None,
        is_made_here=is_made_here,
        created_at=now,
        updated_at=now,
    )


async def groups_named(db: Session, names: Sequence[str]) -> dict[str, str]:
    return dict(await db.all(_groups_named, names=list(names)))


async def add_group(
    db: Session, name: str, parent: str | None, now: datetime, attributes: dict[str, Any] | None = None
) -> str:
    group_uuid = str(uuid.uuid4())
    await db.run(
        _add_group,
        group_uuid=group_uuid,
        name=name,
        parent=parent,
        is_superuser=False,
        attributes=attributes or {},
        created_at=now,
        updated_at=now,
    )
    return group_uuid


async def memberships_by(db: Session, source: str, user_id: int) -> set[str]:
    """Those of the person's groups that are connected to the source."""
    return set(await db.all(_of_source, source=source, user=user_id))


async def join(db: Session, user_id: int, group_uuids: Sequence[str]) -> None:
    for group_uuid in group_uuids:
        await db.run(_join, group_uuid=group_uuid, user_id=user_id)


async def leave(db: Session, user_id: int, group_uuids: Sequence[str]) -> None:
    await db.run(_leave, user=user_id, groups=list(group_uuids))


async def add_attempt(db: Session, key_hash: str, source: str, session: str, data: str, until: datetime) -> None:
    await db.run(_add_attempt, key_hash=key_hash, source=source, session_uuid=session, data=data, expires_at=until)


async def claim_attempt(db: Session, key_hash: str, source: str, session: str, now: datetime) -> str | None:
    return await db.one(_claim_attempt, hash=key_hash, source=source, session=session, now=now)


async def keep_session(db: Session, session: str, source: str, identifier: str, remote: str) -> None:
    await db.run(_forget_session, session_uuid=session)
    await db.run(_add_session, session_uuid=session, source=source, identifier=identifier, remote_session=remote)


async def sessions_by(db: Session, source: str, *, identifier: str = "", remote: str = "") -> list[str]:
    """Our sessions that the source has begun: those of one person, of one session there, or of both."""
    if not identifier and not remote:
        return []
    return await db.all(_sessions, source=source, identifier=identifier, remote=remote)


async def is_new_message(db: Session, source: str, message_hash: str, until: datetime) -> bool:
    return await db.run(_add_message, source=source, message_hash=message_hash, expires_at=until) == 1


async def delete_expired(db: Session, now: datetime) -> None:
    await db.run(_old_attempts, now=now)
    await db.run(_old_messages, now=now)
