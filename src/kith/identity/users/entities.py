from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.groups import store as groups
from kith.identity.users.store import STAFF_ROLES
from kith.identity.users.tables import User


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
    attributes: dict[str, Any]
    uid: str
    uuid: str
    path: str
    type: str


async def render_users(work: Work, users: Sequence[User]) -> list[UserRecord]:
    memberships = await groups.memberships(work.db, [user.id for user in users])
    mighty = await groups.mighty(work.db)
    return [
        UserRecord(
            pk=user.id,
            id=user.id,
            username=user.username,
            name=user.name,
            email=user.email,
            is_active=user.is_active,
            is_superuser=user.role in STAFF_ROLES or not mighty.isdisjoint(memberships[user.id]),
            last_login=user.last_login_at,
            date_joined=user.created_at,
            last_updated=user.updated_at,
            password_change_date=user.password_changed_at,
            groups=memberships[user.id],
            attributes=user.attributes,
            uid=hashlib.sha256(user.uuid.encode()).hexdigest(),
            uuid=user.uuid,
            path=user.path,
            type=user.type,
        )
        for user in users
    ]
