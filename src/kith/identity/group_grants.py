"""What people have by their groups, or can give to others: nobody else lets anybody into a group that grants more.

Whoever decides about requests for a group can let people into it, so deciding grants what the group does. Whoever is
told of events sees them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import bindparam, column, select, table

from kith.base.db import UID, Session, any_of, query
from kith.identity.groups import store as groups
from kith.identity.groups.tables import groups as group_table
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.roles.store import permissions_of, permissions_through

__all__ = ["MORE", "GroupGrants", "complain_grant", "grants_of", "grants_of_person", "groups_beyond"]

SUPERUSERS = "Only a superuser may make one."
MORE = "A group that grants more than you have cannot be assigned by you."
_SEES_EVENTS = "audit.view_event"
# Of rooms above, which know this one.
_offers = table("identity_access_offers", column("offer_uuid", UID), column("group", UID))
_approvers = table("identity_access_approvers", column("owner", UID), column("other"))
_approver_groups = table("identity_access_approver_groups", column("owner", UID), column("other", UID))
_rules = table("identity_notification_rules", column("destination_group", UID))
_decided_by_groups = query(
    select(_approver_groups.c.other, _offers.c.group)
    .join(_offers, _offers.c.offer_uuid == _approver_groups.c.owner)
    .where(_offers.c.group.is_not(None)),
    tuple,
)
_decided_by_person = query(
    select(_offers.c.group)
    .join(_approvers, _offers.c.offer_uuid == _approvers.c.owner)
    .where(_approvers.c.other == bindparam("user"), _offers.c.group.is_not(None)),
    str,
)
_these = select(group_table.c.group_uuid).where(any_of(group_table.c.group_uuid, "ids")).cte("these", recursive=True)
_with_above = query(
    select(
        _these.union(
            select(group_table.c.parent)
            .join(_these, group_table.c.group_uuid == _these.c.group_uuid)
            .where(group_table.c.parent.is_not(None))
        ).c.group_uuid
    ),
    str,
)
_told = query(select(_rules.c.destination_group).where(any_of(_rules.c.destination_group, "ids")).limit(1), str)


class GroupGrants(msgspec.Struct, frozen=True):
    """`groups` are those that somebody is in or can let people into, with all above."""

    groups: frozenset[str]
    is_superuser: bool
    permissions: frozenset[str]

    def exceeds(self, held: frozenset[str]) -> bool:
        return self.is_superuser or not self.permissions <= held


async def grants_of(db: Session, group_uuids: Iterable[str]) -> GroupGrants:
    """What members of these groups have or can give."""
    found, more = set[str](), set(group_uuids)
    decided = await db.all(_decided_by_groups) if more else []
    while more:
        found |= set(await db.all(_with_above, ids=list(more)))
        more = {group for approvers, group in decided if approvers in found} - found
    if not found:
        return GroupGrants(frozenset(), is_superuser=False, permissions=frozenset())
    permissions = await permissions_through(db, list(found))
    if await db.one(_told, ids=list(found)) is not None:
        permissions |= {_SEES_EVENTS}
    is_superuser = not found.isdisjoint(await groups.superuser_groups(db))
    return GroupGrants(frozenset(found), is_superuser, permissions)


async def grants_of_person(db: Session, user_id: int) -> GroupGrants:
    """What somebody has or can give, by their own roles and groups and as one who decides."""
    joined = (await groups.memberships(db, [user_id]))[user_id]
    found = await grants_of(db, [*joined, *await db.all(_decided_by_person, user=user_id)])
    return msgspec.structs.replace(found, permissions=found.permissions | await permissions_of(db, user_id))


async def groups_beyond(db: Session, group_uuids: Iterable[str], held: frozenset[str]) -> set[str]:
    """Those of these groups that grant more than this."""
    return {one for one in set(group_uuids) if (await grants_of(db, [one])).exceeds(held)}


async def complain_grant(draft: RecordDraft[Any], group_uuids: Iterable[str]) -> str | None:
    """Why the caller may not have people join these groups; None if they may."""
    held, db = draft.caller.permissions, draft.work.db
    if held is None:
        return None
    wanted = set(group_uuids)
    if not (await groups.superuser_groups(db)).isdisjoint(wanted):
        return SUPERUSERS
    return MORE if (await grants_of(db, wanted)).exceeds(held) else None
