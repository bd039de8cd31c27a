"""Whether the caller may let people join a group: only if they have every permission that it grants."""

from __future__ import annotations

from typing import Any

from kith.identity.groups import store as groups
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.roles.store import permissions_through


async def complain_grant(draft: RecordDraft[Any], group_uuid: str | None) -> str | None:
    """Why the caller may not have people join this group; None if they may."""
    allowed, db = draft.caller.permissions, draft.work.db
    if allowed is None or group_uuid is None:
        return None
    if group_uuid in await groups.superuser_groups(db):
        return "Only a superuser may make one."
    if not await permissions_through(db, [group_uuid]) <= allowed:
        return "A group that grants more than you have cannot be assigned by you."
    return None
