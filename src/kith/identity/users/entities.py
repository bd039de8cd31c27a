from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.identity.groups import store as groups
from kith.identity.users.store import STAFF_ROLES, UserLine


class UserRecord(msgspec.Struct):
    """A person as the identity API shows them."""

    pk: int
    id: int
    username: str
    name: str
    email: str
    is_active: bool
    is_superuser: bool
    last_login: datetime | None
    date_joined: datetime
    last_updated: datetime
    password_change_date: datetime | None
    groups: list[str]
    attributes: msgspec.Raw
    uid: str
    uuid: str
    path: str
    type: str


async def render_users(work: Work, lines: Sequence[UserLine]) -> list[UserRecord]:
    memberships = await groups.memberships(work.db, [line.id for line in lines])
    mighty = await groups.mighty(work.db) if any(memberships.values()) else set()
    return [
        UserRecord(
            line.id,
            line.id,
            line.username,
            line.name,
            line.email,
            line.is_active,
            line.role in STAFF_ROLES or not mighty.isdisjoint(memberships[line.id]),
            line.last_login_at,
            line.created_at,
            line.updated_at,
            line.password_changed_at,
            memberships[line.id],
            line.attributes,
            hashlib.sha256(line.uuid.encode()).hexdigest(),
            line.uuid,
            line.path,
            line.type,
        )
        for line in lines
    ]
