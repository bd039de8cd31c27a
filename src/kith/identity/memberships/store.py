from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from kith.base.db import Session, any_of, query
from kith.identity.groups.tables import groups
from kith.identity.users.tables import users

_group_names = query(select(groups.c.group_uuid, groups.c.name).where(any_of(groups.c.group_uuid, "groups")), tuple)
_usernames = query(select(users.c.id, users.c.username).where(any_of(users.c.id, "users")), tuple)


async def names_of(db: Session, group_uuids: Sequence[str], user_ids: Sequence[int]) -> dict[str | int, str]:
    """The names of groups and of people, by their ids."""
    named: dict[str | int, str] = dict(await db.all(_group_names, groups=list(group_uuids)))
    return named | dict(await db.all(_usernames, users=list(user_ids)))
