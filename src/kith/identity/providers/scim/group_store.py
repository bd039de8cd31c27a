"""Statements on groups: who is a member here, and whom the service has as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, String, and_, bindparam, cast, delete, exists, select

from kith.base.db import UID, Session, add_once, any_of, command, query
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.providers.scim.tables import remote_members, remotes

CHUNK = 500

_provider = bindparam("of", type_=Integer())

_group = query(
    select(groups.c.group_uuid, groups.c.name, groups.c.parent, groups.c.attributes).where(
        groups.c.group_uuid == bindparam("group", type_=UID())
    ),
    tuple,
)
_up = (
    select(groups.c.group_uuid, groups.c.parent)
    .where(groups.c.group_uuid == bindparam("group", type_=UID()))
    .cte("up", recursive=True)
)
_above = query(
    select(
        _up.union(
            select(groups.c.group_uuid, groups.c.parent).join(_up, groups.c.group_uuid == _up.c.parent)
        ).c.group_uuid
    ),
    str,
)

# Members who are at the service, and have there the id `remote_id`.
_are_there = and_(
    remotes.c.provider == _provider,
    remotes.c.kind == "user",
    remotes.c.is_active,
)
_wanted_members = (
    select(members.c.user_id, remotes.c.remote_id)
    .join(remotes, remotes.c.local_id == cast(members.c.user_id, String))
    .where(and_(members.c.group_uuid == bindparam("group", type_=UID()), IS_MEMBER, _are_there))
)
_held = and_(
    remote_members.c.provider == _provider,
    remote_members.c.group_uuid == bindparam("group", type_=UID()),
)
_joining = query(
    _wanted_members.where(~exists().where(and_(_held, remote_members.c.user_id == members.c.user_id)))
    .order_by(members.c.user_id)
    .limit(bindparam("most")),
    tuple,
)
_leaving = query(
    select(remote_members.c.user_id)
    .where(
        and_(
            _held,
            ~exists().where(
                and_(
                    members.c.group_uuid == remote_members.c.group_uuid,
                    members.c.user_id == remote_members.c.user_id,
                    remotes.c.local_id == cast(members.c.user_id, String),
                    IS_MEMBER,
                    _are_there,
                )
            ),
        )
    )
    .order_by(remote_members.c.user_id)
    .limit(bindparam("most")),
    int,
)
_all_members = query(
    _wanted_members.where(members.c.user_id > bindparam("after")).order_by(members.c.user_id).limit(CHUNK), tuple
)
_add_member = command(add_once(remote_members))
_forget_members = command(delete(remote_members).where(and_(_held, any_of(remote_members.c.user_id, "users"))))
_forget_group = command(delete(remote_members).where(_held))
_forget_person = command(
    delete(remote_members).where(
        and_(remote_members.c.provider == _provider, remote_members.c.user_id == bindparam("user"))
    )
)
_groups_of = query(select(members.c.group_uuid).where(and_(members.c.user_id == bindparam("user"), IS_MEMBER)), str)
_remote_groups_of = query(
    select(remote_members.c.group_uuid).where(
        and_(remote_members.c.provider == _provider, remote_members.c.user_id == bindparam("user"))
    ),
    str,
)


async def find_group(db: Session, group: str) -> tuple[str, str, str | None, dict[str, Any]] | None:
    return await db.one(_group, group=group)


async def group_and_above(db: Session, group: str) -> set[str]:
    return set(await db.all(_above, group=group))


async def joining(db: Session, provider: int, group: str, most: int) -> list[tuple[int, str]]:
    """Members whom the service does not have in the group yet, with their ids there."""
    return await db.all(_joining, of=provider, group=group, most=most)


async def leaving(db: Session, provider: int, group: str, most: int) -> list[int]:
    return await db.all(_leaving, of=provider, group=group, most=most)


async def all_members(db: Session, provider: int, group: str, after: int) -> list[tuple[int, str]]:
    return await db.all(_all_members, of=provider, group=group, after=after)


async def keep_members(db: Session, provider: int, group: str, user_ids: Sequence[int]) -> None:
    rows = [{"provider": provider, "group_uuid": group, "user_id": user_id} for user_id in user_ids]
    await db.many(_add_member, rows)


async def forget_members(db: Session, provider: int, group: str, user_ids: Sequence[int]) -> None:
    await db.run(_forget_members, of=provider, group=group, users=list(user_ids))


async def forget_group_members(db: Session, provider: int, group: str) -> None:
    await db.run(_forget_group, of=provider, group=group)


async def forget_person(db: Session, provider: int, user_id: int) -> None:
    """They are in no group there any more."""
    await db.run(_forget_person, of=provider, user=user_id)


async def groups_of(db: Session, user_id: int) -> set[str]:
    return set(await db.all(_groups_of, user=user_id))


async def remote_groups_of(db: Session, provider: int, user_id: int) -> set[str]:
    return set(await db.all(_remote_groups_of, of=provider, user=user_id))
