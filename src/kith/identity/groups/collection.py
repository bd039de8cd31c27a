"""/core/groups/: a tree of groups. Members have what their group and all groups above it grant."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import any_of, first_end, query
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.groups import store
from kith.identity.groups.facts import announce_group
from kith.identity.groups.names import ALIKE, is_like_another
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.lost_names import keep_names_of_groups
from kith.identity.named_in_policies import refuse_if_named
from kith.identity.rest import ListFilter, RecordDraft, Resource
from kith.identity.rest.fields import Boolean, Computed, Object, Reference, References, Text
from kith.identity.rest.record import Record
from kith.identity.roles.tables import group_roles
from kith.identity.users.tables import users

FIELDS = (
    Text(name="name", required=True, unique=True, most=80),
    Reference(name="parent", null=True, to="identity_groups.group_uuid", on_delete="RESTRICT"),
    References(
        name="user_set",
        to="identity_users.id",
        integer=True,
        link=members,
        owner="group_uuid",
        other="user_id",
        ends="expires",
    ),
    Object(name="attributes", private=True, hides="providers.change_applicationgatewayprovider"),
    Boolean(name="is_superuser", default=False, help="Its members, and those of every group below, may do everything."),
    References(name="roles", to="identity_roles.role_uuid", link=group_roles),
    Computed(name="children", form={"type": "array", "items": {"type": "string", "format": "uuid"}}),
)


class GroupRecord(Record, kw_only=True):
    pk: str
    group_uuid: str
    name: str
    parent: str | None
    user_set: list[int] = msgspec.field(default_factory=list)
    attributes: dict[str, Any]
    is_superuser: bool
    roles: list[str] = msgspec.field(default_factory=list)
    children: list[str] = msgspec.field(default_factory=list)
    created: datetime
    last_updated: datetime


_children = query(
    select(groups.c.parent, groups.c.group_uuid).where(any_of(groups.c.parent, "ids")).order_by(groups.c.name),
    tuple,
)
_up = (
    select(groups.c.group_uuid, groups.c.parent)
    .where(groups.c.group_uuid == bindparam("start"))
    .cte("up", recursive=True)
)
_ancestors = query(
    select(
        _up.union(
            select(groups.c.group_uuid, groups.c.parent).join(_up, groups.c.group_uuid == _up.c.parent)
        ).c.group_uuid
    ),
    str,
)


async def check(draft: RecordDraft[GroupRecord]) -> None:
    parent = draft.values.get("parent")
    await draft.work.db.begin()
    if parent is not None and not draft.is_new:
        # Two moves at the same time could make a cycle together, so they are serialised.
        await draft.work.db.hold("identity.groups")
        if draft.id in await draft.work.db.all(_ancestors, start=parent):
            draft.complain("parent", "A group may not be its own ancestor.", "cycle")
    is_named = draft.is_new or (draft.before is not None and draft.before.name != draft.now.name)
    if is_named and await is_like_another(draft.work.db, draft.now.name, None if draft.is_new else draft.id):
        draft.complain("name", ALIKE, "unique")
    if draft.before is not None and draft.sets("name"):
        await refuse_if_named(draft.work.db, draft.before.name, unless=draft.now.name)


async def saved(draft: RecordDraft[GroupRecord]) -> None:
    before = set(draft.stored.get("user_set", ()))
    announce_group(draft.work, draft.id, before ^ set(draft.values.get("user_set", before)))


async def removing(work: Work, record: GroupRecord, _caller: ApiCaller) -> None:
    await refuse_if_named(work.db, record.name, record.pk)
    await keep_names_of_groups(work.db, [record.pk])
    announce_group(work, record.pk, await store.members_of(work.db, record.pk))


async def decorate(work: Work, records: list[GroupRecord]) -> None:
    children: dict[str, list[str]] = {}
    for parent, child in await work.db.all(_children, ids=[record.pk for record in records]):
        children.setdefault(parent, []).append(child)
    for record in records:
        record.children = children.get(record.pk, [])


_by_username = groups.c.group_uuid.in_(
    select(members.c.group_uuid)
    .join(users, users.c.id == members.c.user_id)
    .where(any_of(users.c.username, "usernames"), IS_MEMBER)
)

RESOURCE = Resource(
    path="/core/groups/",
    name="Group",
    record=GroupRecord,
    key="group_uuid",
    table=groups,
    fields=FIELDS,
    exact=("name", "is_superuser", "parent"),
    filters=(ListFilter(name="members_by_username", clause=_by_username, read=str, bind="usernames", many=True),),
    prepare=check,
    saved=saved,
    removing=removing,
    decorate=decorate,
    decides=True,
    next_end=query(first_end(members.c.expires), datetime),
)
