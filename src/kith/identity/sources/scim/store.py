"""Statements on what services have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, func, select, update

from kith.base.db import UID, Document, Instant, Query, Session, add_once, any_of, command, insert_into, query
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.sources.kinds.scim import scim_sources
from kith.identity.sources.scim.tables import ReceivedGroup, ReceivedUser, scim_groups, scim_users
from kith.identity.sources.tables import group_connections, user_connections
from kith.identity.users.tables import is_active, users

CHUNK = 500

_source = bindparam("source", type_=UID())
_id = bindparam("resource", type_=UID())
_now = bindparam("now", type_=Instant())

_settings = query(
    select(scim_sources.c.token_hash, scim_sources.c.group_matching_mode).where(scim_sources.c.pbm_uuid == _source),
    tuple,
)


def _users() -> Select[Any]:
    return (
        select(
            scim_users.c.id,
            scim_users.c.external_id,
            scim_users.c.document,
            scim_users.c.is_made_here,
            scim_users.c.created_at,
            scim_users.c.updated_at,
            users.c.id.label("user"),
            users.c.username,
            is_active().label("is_active"),
            users.c.updated_at.label("changed_at"),
        )
        .join(user_connections, user_connections.c.connection_uuid == scim_users.c.id)
        .join(users, users.c.id == user_connections.c.user)
        .where(scim_users.c.source == _source)
    )


def _groups() -> Select[Any]:
    return (
        select(
            scim_groups.c.id,
            scim_groups.c.external_id,
            scim_groups.c.document,
            group_connections.c.is_made_here,
            scim_groups.c.created_at,
            scim_groups.c.updated_at,
            groups.c.group_uuid.label("group"),
            groups.c.name,
            groups.c.updated_at.label("changed_at"),
        )
        .join(group_connections, group_connections.c.connection_uuid == scim_groups.c.id)
        .join(groups, groups.c.group_uuid == group_connections.c.group)
        .where(scim_groups.c.source == _source)
    )


def _pages(listed: Select[Any], row: type[Any], columns: Mapping[str, Any], key: Any) -> dict[tuple[str, bool], Any]:
    """A query for every order, ascending and descending."""
    return {
        (name, descending): query(
            listed.order_by(column.desc() if descending else column, key)
            .limit(bindparam("most"))
            .offset(bindparam("skipped")),
            row,
        )
        for name, column in columns.items()
        for descending in (False, True)
    }


# The attributes by which lists can be sorted.
_user_pages: dict[tuple[str, bool], Query[ReceivedUser]] = _pages(
    _users(),
    ReceivedUser,
    {
        "id": scim_users.c.id,
        "username": users.c.username_key,
        "externalid": scim_users.c.external_id,
        "displayname": users.c.name,
        "meta.created": scim_users.c.created_at,
        "meta.lastmodified": scim_users.c.updated_at,
    },
    scim_users.c.id,
)
_group_pages: dict[tuple[str, bool], Query[ReceivedGroup]] = _pages(
    _groups(),
    ReceivedGroup,
    {
        "id": scim_groups.c.id,
        "displayname": groups.c.name,
        "externalid": scim_groups.c.external_id,
        "meta.created": scim_groups.c.created_at,
        "meta.lastmodified": scim_groups.c.updated_at,
    },
    scim_groups.c.id,
)
_count_users = query(select(func.count()).select_from(scim_users).where(scim_users.c.source == _source), int)
_count_groups = query(select(func.count()).select_from(scim_groups).where(scim_groups.c.source == _source), int)

_user_by = {
    "id": query(_users().where(scim_users.c.id == _id), ReceivedUser),
    "userName": query(_users().where(users.c.username_key == bindparam("wanted")), ReceivedUser),
    "externalId": query(_users().where(scim_users.c.external_id == bindparam("wanted")), ReceivedUser),
}
_group_by = {
    "id": query(_groups().where(scim_groups.c.id == _id), ReceivedGroup),
    "externalId": query(_groups().where(scim_groups.c.external_id == bindparam("wanted")), ReceivedGroup),
}
_connected = query(
    select(user_connections.c.connection_uuid).where(
        and_(user_connections.c.source == _source, user_connections.c.user == bindparam("user"))
    ),
    str,
)
_group_connected = query(
    select(group_connections.c.connection_uuid).where(
        and_(
            group_connections.c.source == _source,
            group_connections.c.group == bindparam("of_group", type_=UID()),
        )
    ),
    str,
)

_add_user = command(insert_into(scim_users))
_add_group = command(insert_into(scim_groups))
_write_user = command(
    update(scim_users)
    .where(scim_users.c.id == _id)
    .values(
        external_id=bindparam("external"),
        document=bindparam("told", type_=Document()),
        updated_at=_now,
    )
)
_write_group = command(
    update(scim_groups)
    .where(scim_groups.c.id == _id)
    .values(external_id=bindparam("external"), document=bindparam("told", type_=Document()), updated_at=_now)
)
_name_user = command(
    update(user_connections)
    .where(user_connections.c.connection_uuid == _id)
    .values(identifier=bindparam("named"), updated_at=_now)
)
_name_group = command(
    update(group_connections)
    .where(group_connections.c.connection_uuid == _id)
    .values(identifier=bindparam("named"), updated_at=_now)
)
_forget_user = command(delete(user_connections).where(user_connections.c.connection_uuid == _id))
_forget_group = command(delete(group_connections).where(group_connections.c.connection_uuid == _id))
_rename_group = command(
    update(groups)
    .where(groups.c.group_uuid == bindparam("of_group", type_=UID()))
    .values(name=bindparam("called"), updated_at=_now)
)

_members = query(
    select(members.c.group_uuid, scim_users.c.id, members.c.user_id)
    .join(user_connections, user_connections.c.user == members.c.user_id)
    .join(scim_users, scim_users.c.id == user_connections.c.connection_uuid)
    .where(and_(scim_users.c.source == _source, any_of(members.c.group_uuid, "groups"), IS_MEMBER))
    .order_by(members.c.group_uuid, members.c.user_id),
    tuple,
)
_count_members = query(
    select(members.c.group_uuid, func.count())
    .where(any_of(members.c.group_uuid, "groups"))
    .group_by(members.c.group_uuid),
    tuple,
)
_groups_of = query(
    select(members.c.user_id, scim_groups.c.id, groups.c.name)
    .join(groups, groups.c.group_uuid == members.c.group_uuid)
    .join(group_connections, group_connections.c.group == groups.c.group_uuid)
    .join(scim_groups, scim_groups.c.id == group_connections.c.connection_uuid)
    .where(and_(scim_groups.c.source == _source, any_of(members.c.user_id, "users")))
    .order_by(groups.c.name),
    tuple,
)
_users_by_resource = query(
    select(scim_users.c.id, user_connections.c.user)
    .join(user_connections, user_connections.c.connection_uuid == scim_users.c.id)
    .where(and_(scim_users.c.source == _source, any_of(scim_users.c.id, "ids"))),
    tuple,
)
_join = command(add_once(members, without=["expires"]))
_leave = command(
    delete(members).where(
        and_(members.c.group_uuid == bindparam("of_group", type_=UID()), any_of(members.c.user_id, "users"))
    )
)


async def settings(db: Session, source: str) -> tuple[str, str] | None:
    """The hash of the token, and how groups are matched."""
    return await db.one(_settings, source=source)


async def find_user(db: Session, source: str, id: str) -> ReceivedUser | None:
    return await db.one(_user_by["id"], source=source, resource=id)


async def users_with(db: Session, source: str, attribute: str, wanted: str) -> list[ReceivedUser]:
    return await db.all(_user_by[attribute], source=source, wanted=wanted)


async def user_page(
    db: Session, source: str, order: tuple[str, bool], *, most: int, skipped: int
) -> list[ReceivedUser]:
    return await db.all(_user_pages[order], source=source, most=most, skipped=skipped)


async def count_users(db: Session, source: str) -> int:
    return await db.one(_count_users, source=source) or 0


async def find_group(db: Session, source: str, id: str) -> ReceivedGroup | None:
    return await db.one(_group_by["id"], source=source, resource=id)


async def groups_with(db: Session, source: str, attribute: str, wanted: str) -> list[ReceivedGroup]:
    return await db.all(_group_by[attribute], source=source, wanted=wanted)


async def group_page(
    db: Session, source: str, order: tuple[str, bool], *, most: int, skipped: int
) -> list[ReceivedGroup]:
    return await db.all(_group_pages[order], source=source, most=most, skipped=skipped)


async def count_groups(db: Session, source: str) -> int:
    return await db.one(_count_groups, source=source) or 0


def can_sort(name: str, *, people: bool) -> bool:
    return (name, False) in (_user_pages if people else _group_pages)


async def connection_of(db: Session, source: str, user_id: int) -> str | None:
    return await db.one(_connected, source=source, user=user_id)


async def group_connection_of(db: Session, source: str, group: str) -> str | None:
    return await db.one(_group_connected, source=source, of_group=group)


async def add_user(db: Session, values: Mapping[str, Any]) -> None:
    await db.run(_add_user, **values)


async def add_group(db: Session, values: Mapping[str, Any]) -> None:
    await db.run(_add_group, **values)


async def write_user(db: Session, id: str, external_id: str | None, document: dict[str, Any], now: datetime) -> None:
    await db.run(_write_user, resource=id, external=external_id, told=document, now=now)
    await db.run(_name_user, resource=id, named=external_id or id, now=now)


async def write_group(db: Session, id: str, external_id: str | None, document: dict[str, Any], now: datetime) -> None:
    await db.run(_write_group, resource=id, external=external_id, told=document, now=now)
    await db.run(_name_group, resource=id, named=external_id or id, now=now)


async def forget_user(db: Session, id: str) -> None:
    await db.run(_forget_user, resource=id)


async def forget_group(db: Session, id: str) -> None:
    await db.run(_forget_group, resource=id)


async def rename_group(db: Session, group: str, name: str, now: datetime) -> None:
    await db.run(_rename_group, of_group=group, called=name, now=now)


async def members_of(db: Session, source: str, group_ids: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """By group: the resource's id and the person's id, of those whom the source knows."""
    found: dict[str, list[tuple[str, int]]] = {group: [] for group in group_ids}
    for group, id, user in await db.all(_members, source=source, groups=list(group_ids)):
        found[group].append((id, user))
    return found


async def member_counts(db: Session, group_ids: Sequence[str]) -> dict[str, int]:
    return dict(await db.all(_count_members, groups=list(group_ids)))


async def groups_of(db: Session, source: str, user_ids: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {user_id: [] for user_id in user_ids}
    for user_id, id, name in await db.all(_groups_of, source=source, users=list(user_ids)):
        found[user_id].append((id, name))
    return found


async def users_by_resource(db: Session, source: str, ids: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for at in range(0, len(ids), CHUNK):
        found |= dict(await db.all(_users_by_resource, source=source, ids=list(ids[at : at + CHUNK])))
    return found


async def join(db: Session, group: str, user_ids: Sequence[int]) -> None:
    await db.many(_join, [{"group_uuid": group, "user_id": user_id} for user_id in user_ids])


async def leave(db: Session, group: str, user_ids: Sequence[int]) -> None:
    for at in range(0, len(user_ids), CHUNK):
        await db.run(_leave, of_group=group, users=list(user_ids[at : at + CHUNK]))
