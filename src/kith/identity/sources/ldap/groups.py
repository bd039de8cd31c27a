"""Groups of a directory, and who is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.groups.names import group_key, groups_alike, hold
from kith.identity.groups.tables import Group
from kith.identity.named_in_policies import find_naming
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


def _is_taken(alike: Mapping[str, list[tuple[str, str]]], group: DirectoryGroup, before: Group | None) -> bool:
    """Whether another group has the name, or one that is the same."""
    if before is not None and before.name == group.name:
        return False
    return any(before is None or id != before.group_uuid for _, id in alike.get(group_key(group.name), ()))


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
        await hold(work.db)
    known = await store.known_groups(work.db, source, [one.identifier for one in listed])
    here = await store.groups_by_id(work.db, [one.group for one in known.values()])
    alike = await groups_alike(work.db, [one.name for one in listed])
    beyond = await directory.reach.groups_beyond(work, here)
    for group in listed:
        connection = known.get(group.identifier)
        progress.seen_groups.add(group.identifier) if rehearse else None
        before = here[connection.group] if connection is not None else None
        if _is_taken(alike, group, before):
            progress.note(f"{group.name}: there is another group of this name here")
            continue
        values = _values(directory, group, before)
        if (
            before is not None
            and before.name != group.name
            and await find_naming(work.db, before.name, unless=group.name)
        ):
            progress.note(f"{before.name}: it keeps its name here, as a policy names it")
            values["name"] = before.name
        if connection is None:
            progress.groups.create += 1
            if not rehearse:
                made = await store.add_group(
                    work.db, source, group.identifier, group.reference, progress.run, values, work.now
                )
                alike[group_key(group.name)].append((group.name, made))
            continue
        if before is not None and before.group_uuid in beyond:
            progress.note(f"{before.name}: it grants more than whoever set this source up may do, and stays as it is")
        elif before is not None and _differs(before, values):
            progress.groups.update += 1
            alike[group_key(values["name"])].append((values["name"], before.group_uuid))
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
    await move(work, directory, wanted - before, before - wanted)


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
        joining, leaving = ({(one, group) for one in some} for some in (wanted - before, before - wanted))
        await move(work, directory, joining, leaving)


def members_named(attribute: str, entry: DirectoryEntry) -> list[str]:
    """Active Directory gives the members of a large group in parts, of which the first is read here."""
    found = entry.all(attribute)
    start = f"{attribute.lower()};range="
    return found or [one for name in entry.raw if name.startswith(start) for one in entry.all(name)]


async def move(
    work: Work, directory: DirectorySource, joining: set[tuple[int, str]], leaving: set[tuple[int, str]]
) -> None:
    """Let people into groups, and out of them, as far as whoever set the directory up may."""
    beyond = await directory.reach.groups_beyond(work, {group for _, group in joining | leaving})
    joining, leaving = ({one for one in some if one[1] not in beyond} for some in (joining, leaving))
    await store.join(work.db, sorted(joining))
    by_group: dict[str, list[int]] = {}
    for user_id, group in leaving:
        by_group.setdefault(group, []).append(user_id)
    for group, user_ids in sorted(by_group.items()):
        for at in range(0, len(user_ids), CHUNK):
            await store.leave(work.db, group, user_ids[at : at + CHUNK])
    for user_id in sorted({user_id for user_id, _ in joining | leaving}):
        work.announce(UserChanged(user_id=user_id))
