from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, bindparam, or_, select

from kith.base.db import Query, Session, any_of, query
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.roles.tables import group_roles, roles, user_roles

_mine = (
    select(members.c.group_uuid)
    .where(and_(members.c.user_id == bindparam("user"), IS_MEMBER))
    .cte("mine", recursive=True)
)
_above = _mine.union(
    select(groups.c.parent).join(_mine, groups.c.group_uuid == _mine.c.group_uuid).where(groups.c.parent.is_not(None))
)
_through_groups = select(group_roles.c.other).where(group_roles.c.owner.in_(select(_above.c.group_uuid)))
_own = select(user_roles.c.other).where(user_roles.c.owner == bindparam("user"))
_these = select(groups.c.group_uuid).where(any_of(groups.c.group_uuid, "ids")).cte("these", recursive=True)
_these_and_above = _these.union(
    select(groups.c.parent).join(_these, groups.c.group_uuid == _these.c.group_uuid).where(groups.c.parent.is_not(None))
)
_granted: Query[list[str]] = query(
    select(roles.c.permissions).where(or_(roles.c.role_uuid.in_(_own), roles.c.role_uuid.in_(_through_groups))),
    list,
)
_of_groups: Query[list[str]] = query(
    select(roles.c.permissions)
    .join(group_roles, group_roles.c.other == roles.c.role_uuid)
    .where(group_roles.c.owner.in_(select(_these_and_above.c.group_uuid))),
    list,
)
_of_roles: Query[list[str]] = query(select(roles.c.permissions).where(any_of(roles.c.role_uuid, "ids")), list)


async def permissions_of(db: Session, user_id: int) -> frozenset[str]:
    """The permissions of a person's roles, of their groups' roles, and of those of all groups above."""
    return frozenset(name for names in await db.all(_granted, user=user_id) for name in names)


async def permissions_through(db: Session, group_uuids: Sequence[str]) -> frozenset[str]:
    """The permissions that members of these groups have, by their roles and those of all groups above."""
    return frozenset(name for names in await db.all(_of_groups, ids=list(group_uuids)) for name in names)


async def permissions_in(db: Session, role_uuids: Sequence[str]) -> frozenset[str]:
    return frozenset(name for names in await db.all(_of_roles, ids=list(role_uuids)) for name in names)
