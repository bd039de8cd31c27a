"""Statements of synchronisations, for a page of entries at once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from kith.base.db import UID, Document, Instant, Session, add_once, any_of, command, insert_into, query
from kith.identity.groups.tables import Group, groups, members
from kith.identity.sources.family import sources
from kith.identity.sources.tables import (
    DirectoryRun,
    GroupConnection,
    UserConnection,
    group_connections,
    ldap_runs,
    user_connections,
)
from kith.identity.users.tables import User, users

_source = bindparam("source", type_=UID())
_run = bindparam("run", type_=UID())
_now = bindparam("now", type_=Instant())

_connections = query(
    select(user_connections).where(
        and_(user_connections.c.source == _source, any_of(user_connections.c.identifier, "identifiers"))
    ),
    UserConnection,
)
_users = query(select(users).where(any_of(users.c.id, "ids")), User)
_add_connection = command(insert_into(user_connections))
_see_users = command(
    update(user_connections)
    .where(and_(user_connections.c.source == _source, any_of(user_connections.c.identifier, "identifiers")))
    .values(seen_in=_run)
)
_refer_user = command(
    update(user_connections)
    .where(user_connections.c.connection_uuid == bindparam("connection", type_=UID()))
    .values(reference=bindparam("new_reference"), dn=bindparam("new_dn"), updated_at=_now)
)
_unseen_users = query(
    select(user_connections)
    .where(
        and_(
            user_connections.c.source == _source,
            or_(user_connections.c.seen_in.is_(None), user_connections.c.seen_in != _run),
        )
    )
    .order_by(user_connections.c.connection_uuid)
    .limit(200),
    UserConnection,
)
_forget_user = command(
    delete(user_connections).where(user_connections.c.connection_uuid == bindparam("connection", type_=UID()))
)
_user_identifiers = query(
    select(user_connections.c.identifier)
    .where(and_(user_connections.c.source == _source, user_connections.c.identifier > bindparam("after")))
    .order_by(user_connections.c.identifier)
    .limit(1000),
    str,
)
_count_connections = query(
    select(func.count()).select_from(user_connections).where(user_connections.c.user == bindparam("user")), int
)

_group_connections = query(
    select(group_connections).where(
        and_(group_connections.c.source == _source, any_of(group_connections.c.identifier, "identifiers"))
    ),
    GroupConnection,
)
_groups = query(
    select(*(groups.c[name] for name in Group.__struct_fields__)).where(any_of(groups.c.group_uuid, "ids")), Group
)
_add_group = command(insert_into(groups))
_change_group = command(
    update(groups)
    .where(groups.c.group_uuid == bindparam("group", type_=UID()))
    .values(
        name=bindparam("new_name"),
        parent=bindparam("new_parent", type_=UID()),
        attributes=bindparam("new_attributes", type_=Document()),
        updated_at=_now,
    )
)
_add_group_connection = command(insert_into(group_connections))
_see_groups = command(
    update(group_connections)
    .where(and_(group_connections.c.source == _source, any_of(group_connections.c.identifier, "identifiers")))
    .values(seen_in=_run)
)
_refer_group = command(
    update(group_connections)
    .where(group_connections.c.connection_uuid == bindparam("connection", type_=UID()))
    .values(reference=bindparam("new_reference"), updated_at=_now)
)
_unseen_groups = query(
    select(group_connections)
    .where(
        and_(
            group_connections.c.source == _source,
            or_(group_connections.c.seen_in.is_(None), group_connections.c.seen_in != _run),
        )
    )
    .order_by(group_connections.c.connection_uuid)
    .limit(200),
    GroupConnection,
)
_forget_group = command(
    delete(group_connections).where(group_connections.c.connection_uuid == bindparam("connection", type_=UID()))
)
_group_identifiers = query(
    select(group_connections.c.identifier)
    .where(and_(group_connections.c.source == _source, group_connections.c.identifier > bindparam("after")))
    .order_by(group_connections.c.identifier)
    .limit(1000),
    str,
)

_users_by_reference = query(
    select(user_connections.c.user).where(
        and_(user_connections.c.source == _source, any_of(user_connections.c.reference, "references"))
    ),
    int,
)
_groups_by_reference = query(
    select(group_connections.c.reference, group_connections.c.group).where(
        and_(group_connections.c.source == _source, any_of(group_connections.c.reference, "references"))
    ),
    tuple,
)
_memberships = query(
    select(members.c.user_id, members.c.group_uuid)
    .join(group_connections, group_connections.c.group == members.c.group_uuid)
    .where(and_(group_connections.c.source == _source, any_of(members.c.user_id, "users"))),
    tuple,
)
_members_of = query(
    select(members.c.user_id)
    .join(user_connections, user_connections.c.user == members.c.user_id)
    .where(and_(members.c.group_uuid == bindparam("group", type_=UID()), user_connections.c.source == _source)),
    int,
)
_join = command(add_once(members, without=["expires"]))
_leave = command(
    delete(members).where(
        and_(members.c.group_uuid == bindparam("group", type_=UID()), any_of(members.c.user_id, "users"))
    )
)

_add_run = command(insert_into(ldap_runs))
_change_run = command(
    update(ldap_runs)
    .where(ldap_runs.c.run_uuid == _run)
    .values(
        state=bindparam("new_state"),
        phase=bindparam("new_phase"),
        counts=bindparam("new_counts", type_=Document()),
        notes=bindparam("new_notes", type_=Document()),
        updated_at=_now,
        finished_at=bindparam("finished", type_=Instant()),
    )
)
_last_runs = query(
    select(ldap_runs).where(ldap_runs.c.source == _source).order_by(ldap_runs.c.started_at.desc()).limit(20),
    DirectoryRun,
)
_forget_runs = command(
    delete(ldap_runs).where(
        and_(ldap_runs.c.source == _source, ldap_runs.c.started_at < bindparam("before", type_=Instant()))
    )
)
_enabled = query(select(sources.c.pbm_uuid).where(and_(sources.c.kind == "ldap", sources.c.enabled)), str)


async def connections(db: Session, source: str, identifiers: Sequence[str]) -> dict[str, UserConnection]:
    found = await db.all(_connections, source=source, identifiers=list(identifiers))
    return {one.identifier: one for one in found}


async def users_by_id(db: Session, ids: Sequence[int]) -> dict[int, User]:
    return {one.id: one for one in await db.all(_users, ids=list(ids))}


async def connect_user(
    db: Session,
    source: str,
    user_id: int,
    identifier: str,
    reference: str,
    dn: str,
    run: str,
    now: datetime,
    *,
    is_made_here: bool,
) -> None:
    await db.run(
        _add_connection,
        connection_uuid=str(uuid.uuid4()),
        source=source,
        kind="ldap",
        user=user_id,
        identifier=identifier,
        access_token=None,
        reference=reference,
        dn=dn,
        seen_in=run,
        is_made_here=is_made_here,
        created_at=now,
        updated_at=now,
    )


async def see_users(db: Session, source: str, identifiers: Sequence[str], run: str) -> None:
    await db.run(_see_users, source=source, identifiers=list(identifiers), run=run)


async def refer_user(db: Session, connection: str, reference: str, dn: str, now: datetime) -> None:
    await db.run(_refer_user, connection=connection, new_reference=reference, new_dn=dn, now=now)


async def unseen_users(db: Session, source: str, run: str) -> list[UserConnection]:
    return await db.all(_unseen_users, source=source, run=run)


async def forget_user(db: Session, connection: str) -> None:
    await db.run(_forget_user, connection=connection)


async def user_identifiers(db: Session, source: str, after: str) -> list[str]:
    return await db.all(_user_identifiers, source=source, after=after)


async def count_connections(db: Session, user_id: int) -> int:
    return await db.one(_count_connections, user=user_id) or 0


async def known_groups(db: Session, source: str, identifiers: Sequence[str]) -> dict[str, GroupConnection]:
    found = await db.all(_group_connections, source=source, identifiers=list(identifiers))
    return {one.identifier: one for one in found}


async def groups_by_id(db: Session, ids: Sequence[str]) -> dict[str, Group]:
    return {one.group_uuid: one for one in await db.all(_groups, ids=list(ids))}


async def add_group(
    db: Session, source: str, identifier: str, reference: str, run: str, values: dict[str, Any], now: datetime
) -> str:
    group_uuid = str(uuid.uuid4())
    times = {"created_at": now, "updated_at": now}
    await db.run(_add_group, group_uuid=group_uuid, is_superuser=False, **values, **times)
    await db.run(
        _add_group_connection,
        connection_uuid=str(uuid.uuid4()),
        source=source,
        kind="ldap",
        group=group_uuid,
        identifier=identifier,
        reference=reference,
        seen_in=run,
        is_made_here=True,
        **times,
    )
    return group_uuid


async def change_group(db: Session, group_uuid: str, values: dict[str, Any], now: datetime) -> None:
    new = {f"new_{name}": value for name, value in values.items()}
    await db.run(_change_group, group=group_uuid, now=now, **new)


async def see_groups(db: Session, source: str, identifiers: Sequence[str], run: str) -> None:
    await db.run(_see_groups, source=source, identifiers=list(identifiers), run=run)


async def refer_group(db: Session, connection: str, reference: str, now: datetime) -> None:
    await db.run(_refer_group, connection=connection, new_reference=reference, now=now)


async def unseen_groups(db: Session, source: str, run: str) -> list[GroupConnection]:
    return await db.all(_unseen_groups, source=source, run=run)


async def forget_group(db: Session, connection: str) -> None:
    await db.run(_forget_group, connection=connection)


async def group_identifiers(db: Session, source: str, after: str) -> list[str]:
    return await db.all(_group_identifiers, source=source, after=after)


async def users_by_reference(db: Session, source: str, references: Sequence[str]) -> list[int]:
    return await db.all(_users_by_reference, source=source, references=list(references))


async def groups_by_reference(db: Session, source: str, references: Sequence[str]) -> dict[str, str]:
    return dict(await db.all(_groups_by_reference, source=source, references=list(references)))


async def memberships(db: Session, source: str, user_ids: Sequence[int]) -> set[tuple[int, str]]:
    """Those of these people's memberships that the source decides about."""
    return set(await db.all(_memberships, source=source, users=list(user_ids)))


async def members_of(db: Session, source: str, group_uuid: str) -> set[int]:
    return set(await db.all(_members_of, source=source, group=group_uuid))


async def join(db: Session, pairs: Sequence[tuple[int, str]]) -> None:
    if pairs:
        await db.many(_join, [{"group_uuid": group, "user_id": user_id} for user_id, group in pairs])


async def leave(db: Session, group_uuid: str, user_ids: Sequence[int]) -> None:
    await db.run(_leave, group=group_uuid, users=list(user_ids))


async def add_run(db: Session, run: DirectoryRun) -> None:
    await db.run(_add_run, **{name: getattr(run, name) for name in DirectoryRun.__struct_fields__})


async def change_run(db: Session, run: DirectoryRun, now: datetime) -> None:
    await db.run(
        _change_run,
        run=run.run_uuid,
        new_state=run.state,
        new_phase=run.phase,
        new_counts=run.counts,
        new_notes=run.notes,
        now=now,
        finished=run.finished_at,
    )


async def last_runs(db: Session, source: str) -> list[DirectoryRun]:
    """Newest first."""
    return await db.all(_last_runs, source=source)


async def forget_runs(db: Session, source: str, before: datetime) -> None:
    await db.run(_forget_runs, source=source, before=before)


async def enabled_directories(db: Session) -> list[str]:
    return await db.all(_enabled)
