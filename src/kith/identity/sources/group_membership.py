"""The groups that a source gives people: connected to ours, and replaced whenever they come."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.flows.plan_context import PendingConnection
from kith.identity.group_grants import grants_of
from kith.identity.groups.names import group_key, groups_alike, hold
from kith.identity.sources import store
from kith.identity.sources.reach import reach_of
from kith.identity.sources.store import Source
from kith.identity.sources.tables import MOST_IN_IDENTIFIER
from kith.identity.users.service import UserChanged
from kith.identity.users.tables import User

MOST_GROUPS = 500
MOST_IN_NAME = 80


async def replace(work: Work, user: User, source: Source, coming: PendingConnection) -> None:
    """Make the person a member of exactly those groups of the source that it names now.

    Groups that have nothing to do with the source are left as they are.
    """
    if coming.groups is None:
        return
    wanted = await _connected(work, source, coming)
    before = await store.memberships_by(work.db, source.pbm_uuid, user.id)
    beyond = await (await reach_of(work, source)).groups_beyond(work, wanted ^ before)
    wanted = (wanted - beyond) | (before & beyond)
    if wanted == before:
        return
    await store.leave(work.db, user.id, sorted(before - wanted))
    await store.join(work.db, user.id, sorted(wanted - before))
    work.announce(UserChanged(user_id=user.id))


async def _connected(work: Work, source: Source, coming: PendingConnection) -> set[str]:
    listed = (coming.groups or [])[:MOST_GROUPS]
    attributes = {one["identifier"]: one.get("attributes", {}) for one in listed}
    named = {one["identifier"]: str(one["name"]) for one in listed}
    named = {key: name for key, name in named.items() if 0 < len(key) <= MOST_IN_IDENTIFIER and _is_name(name)}
    known = await store.connected_groups(work.db, source.pbm_uuid, list(named))
    new = {key: name for key, name in named.items() if key not in known}
    if not new:
        return set(known.values())
    taken = await store.groups_named(work.db, list(new.values()))
    mighty = {one for one in taken.values() if (await grants_of(work.db, [one])).is_superuser}
    mighty |= await (await reach_of(work, source)).groups_beyond(work, taken.values())
    await hold(work.db)
    alike = set(await groups_alike(work.db, new.values()))
    for identifier, name in new.items():
        existing = taken.get(name)
        if existing is None and group_key(name) in alike:
            group: str | None = await _match(work, source, coming.group_matching_mode, name, None, mighty)
        elif existing is None:
            group = await store.add_group(work.db, name, None, work.now, attributes[identifier])
            alike.add(group_key(name))
        else:
            group = await _match(work, source, coming.group_matching_mode, name, existing, mighty)
        if group is not None:
            await store.connect_group(work.db, source, group, identifier, work.now, is_made_here=existing is None)
            known[identifier] = taken[name] = group
    return set(known.values())


async def _match(
    work: Work, source: Source, mode: str, name: str, existing: str | None, mighty: set[str]
) -> str | None:
    """The group of ours that has the name of one that nobody has connected yet; None if it is left out.

    `existing` is None where the name of ours differs by case or spaces.

    Only an administrator can connect a group that makes superusers, or grants more than whoever set the source up
    may do: a name at the source is not enough.
    """
    if mode == "name_link" and existing is not None and existing not in mighty:
        return existing
    if mode != "name_deny":
        context: dict[str, Any] = {
            "message": f"The source has a group {name}, and there is another one of that name here.",
            "source": {"pk": source.pbm_uuid, "name": source.name},
        }
        await audit.record(work, "configuration_error", "sources.groups", context=context)
    return None


def _is_name(name: str) -> bool:
    return 0 < len(name) <= MOST_IN_NAME and "\0" not in name
