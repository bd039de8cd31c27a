"""Groups of a directory, and who is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.groups.tables import Group
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.entries import DirectoryEntry, dn_key
from kith.identity.sources.ldap.people import DirectoryPerson, reference_of
from kith.identity.sources.ldap.progress import SyncProgress
from kith.identity.sources.ldap.settings import DirectorySource
from kith.identity.sources.tables import MOST_IN_IDENTIFIER
from kith.identity.users.service import UserChanged

MOST_IN_NAME = 80
CHUNK = 500


class DirectoryGroup(msgspec.Struct, frozen=True):
    identifier: str
    reference: str
    name: str
    dn: str


def read_group(directory: DirectorySource, entry: DirectoryEntry) -> DirectoryGroup | str:
    """What an entry says of a group, or why it is left out."""
    identifier = entry.first(directory.settings.unique)
    name = entry.first("cn") or entry.first("name") or entry.first("sAMAccountName")
    if not 0 < len(identifier) <= MOST_IN_IDENTIFIER:
        return f"{entry.dn}: it has no {directory.settings.unique}"
    if not 0 < len(name) <= MOST_IN_NAME:
        return f"{entry.dn}: it has no name, or one of more than {MOST_IN_NAME} characters"
    return DirectoryGroup(identifier, dn_key(entry.dn), name, entry.dn)


def _values(directory: DirectorySource, group: DirectoryGroup, before: Group | None) -> dict[str, Any]:
    kept = before.attributes if before is not None else {}
    return {
        "name": group.name,
        "parent": directory.settings.parent_group or (before.parent if before is not None else None),
        "attributes": {**kept, "ldap_uniq": group.identifier, "distinguishedName": group.dn},
    }


def _differs(before: Group, values: Mapping[str, Any]) -> bool:
    return any(getattr(before, name) != value for name, value in values.items())


async def apply_page(
    work: Work,
    directory: DirectorySource,
    listed: Sequence[DirectoryGroup],
    progress: SyncProgress,
    *,
    rehearse: bool = False,
) -> None:
    source = directory.source.pbm_uuid
    if not rehearse:
        await work.db.begin()
    known = await store.known_groups(work.db, source, [one.identifier for one in listed])
    here = await store.groups_by_id(work.db, [one.group for one in known.values()])
    named = await store.groups_by_name(work.db, [one.name for one in listed])
    for group in listed:
        connection = known.get(group.identifier)
        progress.seen_groups.add(group.identifier) if rehearse else None
        before = here[connection.group] if connection is not None else None
        other = named.get(group.name)
        if other is not None and (before is None or other.group_uuid != before.group_uuid):
            progress.note(f"{group.name}: there is another group of this name here")
            continue
        values = _values(directory, group, before)
        if connection is None:
            progress.groups.create += 1
            if not rehearse:
                made = await store.add_group(
                    work.db, source, group.identifier, group.reference, progress.run, values, work.now
                )
                named[group.name] = Group(made, group.name, values["parent"], False, values["attributes"], work.now)
            continue
        if before is not None and _differs(before, values):
            progress.groups.update += 1
            if not rehearse:
                await store.change_group(work.db, before.group_uuid, values, work.now)
        if connection.reference != group.reference and not rehearse:
            await store.refer_group(work.db, connection.connection_uuid, group.reference, work.now)
    if not rehearse:
        await store.see_groups(work.db, source, [one.identifier for one in listed], progress.run)


async def apply_memberships(
    work: Work, directory: DirectorySource, people: Sequence[DirectoryPerson], found: Mapping[str, int]
) -> None:
    """Put people into the groups that they name, and out of the directory's others. In the transaction of `work`."""
    source = directory.source.pbm_uuid
    references = {one for person in people for one in person.memberships}
    groups = await store.groups_by_reference(work.db, source, sorted(references)) if references else {}
    wanted = {
        (found[person.identifier], groups[one])
        for person in people
        for one in person.memberships
        if one in groups and person.identifier in found
    }
    before = await store.memberships(work.db, source, list(found.values()))
    await _move(work, wanted - before, before - wanted)


async def apply_members(work: Work, directory: DirectorySource, page: Sequence[DirectoryEntry]) -> None:
    """Make the people whom groups name their members, and those of the directory whom they do not name no more."""
    settings, source = directory.settings, directory.source.pbm_uuid
    await work.db.begin()
    known = await store.known_groups(work.db, source, [entry.first(settings.unique) for entry in page])
    for entry in page:
        connection = known.get(entry.first(settings.unique))
        if connection is None:
            continue
        named = [reference_of(settings.member_name, one) for one in members_named(settings.members, entry)]
        wanted: set[int] = set()
        for at in range(0, len(named), CHUNK):
            wanted.update(await store.users_by_reference(work.db, source, named[at : at + CHUNK]))
        group = connection.group
        before = await store.members_of(work.db, source, group)
        await _move(work, {(one, group) for one in wanted - before}, {(one, group) for one in before - wanted})


def members_named(attribute: str, entry: DirectoryEntry) -> list[str]:
    """Active Directory gives the members of a large group in parts, of which the first is read here."""
    found = entry.all(attribute)
    start = f"{attribute.lower()};range="
    return found or [one for name in entry.raw if name.startswith(start) for one in entry.all(name)]


async def _move(work: Work, joining: set[tuple[int, str]], leaving: set[tuple[int, str]]) -> None:
    await store.join(work.db, sorted(joining))
    by_group: dict[str, list[int]] = {}
    for user_id, group in leaving:
        by_group.setdefault(group, []).append(user_id)
    for group, user_ids in sorted(by_group.items()):
        for at in range(0, len(user_ids), CHUNK):
            await store.leave(work.db, group, user_ids[at : at + CHUNK])
    for user_id in sorted({user_id for user_id, _ in joining | leaving}):
        work.announce(UserChanged(user_id=user_id))


async def remove_unseen(work: Work, directory: DirectorySource, progress: SyncProgress) -> bool:
    """Delete some of the groups that the run has not seen; False once there are no more."""
    await work.db.begin()
    unseen = await store.unseen_groups(work.db, directory.source.pbm_uuid, progress.run)
    here = await store.groups_by_id(work.db, [one.group for one in unseen])
    for connection in unseen:
        progress.groups.delete += 1
        name = here[connection.group].name
        model = {"app": "core", "model_name": "group", "pk": connection.group, "name": name}
        await audit.record(work, "model_deleted", "sources.ldap", username="ldap", context={"model": model})
        for user_id in await store.members_of(work.db, directory.source.pbm_uuid, connection.group):
            work.announce(UserChanged(user_id=user_id))
        await store.remove_group(work.db, connection.group)
    return bool(unseen)
