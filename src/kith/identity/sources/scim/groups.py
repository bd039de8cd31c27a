"""Groups that a service writes, and who is in them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kith.base.db import Dangling, Taken
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.group_grants import grants_of
from kith.identity.groups import store as group_store
from kith.identity.groups.facts import announce_group
from kith.identity.groups.names import ALIKE, is_like_another
from kith.identity.named_in_policies import find_naming
from kith.identity.rest.facts import AccessChanged
from kith.identity.rest.fields import read_uuid
from kith.identity.scim.errors import ScimError, invalid_value, taken
from kith.identity.scim.filters import sought, value_fits
from kith.identity.scim.patch import ComparisonBudget, Operation, target_of
from kith.identity.scim.schemas import GROUPS
from kith.identity.sources import left_groups
from kith.identity.sources import store as source_store
from kith.identity.sources.reach import reach_of
from kith.identity.sources.scim import store
from kith.identity.sources.scim.people import APP, read_external_id
from kith.identity.sources.scim.tables import ReceivedGroup
from kith.identity.sources.store import Source
from kith.identity.users.service import UserChanged

MOST_IN_NAME = 80


class ToldGroup(msgspec.Struct, frozen=True):
    """`members` are ids of resources; None where nothing is said of them."""

    name: str
    external_id: str | None
    members: tuple[str, ...] | None


def read_group(document: Mapping[str, Any], members: Iterable[str] | None) -> ToldGroup:
    name = str(document["displayName"]).strip()
    if not 0 < len(name) <= MOST_IN_NAME:
        raise invalid_value(f"displayName has 1 to {MOST_IN_NAME} characters.")
    external_id = read_external_id(document.get("externalId"))
    return ToldGroup(name, external_id, None if members is None else tuple(members))


def read_members(given: Any) -> list[str]:
    """The ids in a list of members, each once."""
    listed = given if isinstance(given, list) else [] if given is None else [given]
    found: dict[str, None] = {}
    for one in listed:
        value = one.get("value") if isinstance(one, Mapping) else one
        if isinstance(one, Mapping) and str(one.get("type") or "User").lower() != "user":
            raise invalid_value("Members of groups are users; groups in groups are not kept.")
        id = read_uuid(value)
        if id is None:
            raise invalid_value(f"There is no user {str(value)[:100]} that could be a member.")
        found[id] = None
    return list(found)


def patch_members(held: Iterable[str], operations: Sequence[Operation]) -> set[str] | None:
    """The members after all operations on them; None if there are no such operations."""
    members, budget = set(held), ComparisonBudget()
    about = [one for one in operations if one.path.path.name.lower() == "members"]
    for one in about:
        attribute = target_of(GROUPS, one)
        if one.path.path.sub:
            raise ScimError("Members are added and removed as a whole.", "mutability")
        if one.path.values is not None:
            if one.op != "remove":
                raise ScimError("Members are added and removed as a whole.", "mutability")
            id = read_uuid(sought(one.path.values, "value"))
            asked = {id} & members if id is not None else set(members)
            budget.spend(one.path.values, len(asked))
            members -= {m for m in asked if value_fits(attribute, one.path.values, {"value": m, "type": "User"})}
        elif one.op == "remove":
            members = members - set(read_members(one.value)) if one.value else set()
        else:
            named = set(read_members(one.value))
            members = members | named if one.op == "add" else named
    return members if about else None


async def add(work: Work, source: Source, told: ToldGroup, matching_mode: str) -> str:
    await work.db.begin()
    group = await _match(work, source, told, matching_mode)
    is_new = group is None
    try:
        group = group or await source_store.add_group(work.db, told.name, None, work.now)
        id = str(uuid.uuid4())
        await source_store.connect_group(
            work.db, source, group, told.external_id or id, work.now, id=id, is_made_here=is_new
        )
        await store.add_group(
            work.db,
            {
                "id": id,
                "source": source.pbm_uuid,
                "external_id": told.external_id,
                "document": {},
                "created_at": work.now,
                "updated_at": work.now,
            },
        )
    except (Taken, Dangling) as error:
        raise taken("A group has this displayName or externalId already.") from error
    moved = await _move(work, source, group, told.members or ())
    await _record(work, "model_created" if is_new else "model_updated", group, told.name)
    _announce(work, group, moved)
    return id


async def _match(work: Work, source: Source, told: ToldGroup, mode: str) -> str | None:
    """A name at the service is not enough to take over a group that makes superusers, or is beyond its reach."""
    if told.external_id is not None:
        found = await store.groups_with(work.db, source.pbm_uuid, "externalId", told.external_id)
        if found:
            raise taken("A group has this externalId already.")
    existing = (await source_store.groups_named(work.db, [told.name])).get(told.name)
    if existing is None:
        if await is_like_another(work.db, told.name):
            raise taken(ALIKE)
        return None
    is_linked = await store.group_connection_of(work.db, source.pbm_uuid, existing) is not None
    is_mighty = (await grants_of(work.db, [existing])).is_superuser
    if mode != "name_link" or is_linked or is_mighty or await _is_beyond(work, source, existing):
        raise taken("A group here has this displayName.")
    return existing


async def _is_beyond(work: Work, source: Source, group: str) -> bool:
    return bool(await (await reach_of(work, source)).groups_beyond(work, [group]))


async def _refuse_beyond(work: Work, source: Source, group: ReceivedGroup) -> None:
    if await _is_beyond(work, source, group.group):
        words = f"{group.name} grants more than whoever set this source up may do, and stays as it is here."
        raise ScimError(words, status=403)


async def change(work: Work, source: Source, group: ReceivedGroup, told: ToldGroup) -> None:
    await work.db.begin()
    await _refuse_beyond(work, source, group)
    if told.name != group.name and await find_naming(work.db, group.name, unless=told.name) is not None:
        raise ScimError(f"{group.name} keeps its name here: a policy names it.", status=409)
    try:
        await store.write_group(work.db, group.id, told.external_id, {}, work.now)
        if told.name != group.name:
            if await is_like_another(work.db, told.name, group.group):
                raise taken(ALIKE)
            await store.rename_group(work.db, group.group, told.name, work.now)
    except Taken as error:
        raise taken("A group has this displayName or externalId already.") from error
    moved = await _move(work, source, group.group, told.members) if told.members is not None else []
    if told.name != group.name or moved:
        diff = audit.difference({"name": group.name}, {"name": told.name})
        await _record(work, "model_updated", group.group, told.name, diff=diff, moved=len(moved))
        _announce(work, group.group, moved)


async def remove(work: Work, source: Source, group: ReceivedGroup) -> None:
    """A group that the service has not made, that makes superusers, or that something here stands on, is only let go:
    staff decide about it."""
    await work.db.begin()
    await _refuse_beyond(work, source, group)
    known = await store.members_of(work.db, source.pbm_uuid, [group.group])
    moved = [user for _, user in known[group.group]]
    may_delete = group.is_made_here and group.group not in await group_store.superuser_groups(work.db)
    if may_delete and await left_groups.remove(work.db, group.group):
        await _record(work, "model_deleted", group.group, group.name)
    else:
        moved = await _move(work, source, group.group, ())
        await store.forget_group(work.db, group.id)
        await _record(work, "model_updated", group.group, group.name, message="The group was unlinked.")
    _announce(work, group.group, moved)


async def _move(work: Work, source: Source, group: str, wanted: Sequence[str]) -> list[int]:
    """Make these people, of all whom the source knows, the members; who joined or left."""
    found = await store.users_by_resource(work.db, source.pbm_uuid, wanted)
    missing = next((one for one in wanted if one not in found), None)
    if missing is not None:
        raise invalid_value(f"There is no user {missing} that could be a member.")
    known = await store.members_of(work.db, source.pbm_uuid, [group])
    before, after = {user for _, user in known[group]}, set(found.values())
    await store.join(work.db, group, sorted(after - before))
    await store.leave(work.db, group, sorted(before - after))
    return sorted(after ^ before)


def _announce(work: Work, group: str, moved: Sequence[int]) -> None:
    announce_group(work, group, moved)
    for user_id in moved:
        work.announce(UserChanged(user_id=user_id))
    work.announce(AccessChanged())


async def _record(work: Work, action: str, group: str, name: str, **context: Any) -> None:
    model = {"app": "core", "model_name": "group", "pk": group, "name": name}
    await audit.record(work, action, APP, username="scim", context={"model": model, **context})


async def get(work: Work, source: Source, id: str | None) -> ReceivedGroup:
    found = await store.find_group(work.db, source.pbm_uuid, id) if id is not None else None
    if found is None:
        raise ScimError("There is no such group.", status=404)
    return found
