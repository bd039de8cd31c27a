"""Until when somebody may do what: by their own roles for good, by a group for as long as they are in it."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import and_, bindparam, select

from kith.base.db import Session, query
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.rest.write_guard import RightEnds
from kith.identity.roles.tables import group_roles, roles, user_roles

__all__ = ["FOR_GOOD", "ends_of_rights", "lasts_longer"]

FOR_GOOD = datetime.max.replace(tzinfo=UTC)

_mine = (
    select(members.c.group_uuid, members.c.expires)
    .where(and_(members.c.user_id == bindparam("user"), IS_MEMBER))
    .cte("mine", recursive=True)
)
_above = _mine.union(
    select(groups.c.parent, _mine.c.expires)
    .join(_mine, groups.c.group_uuid == _mine.c.group_uuid)
    .where(groups.c.parent.is_not(None))
)
_through_groups = query(
    select(roles.c.permissions, _above.c.expires)
    .join(group_roles, group_roles.c.other == roles.c.role_uuid)
    .join(_above, _above.c.group_uuid == group_roles.c.owner),
    tuple,
)
_own = query(
    select(roles.c.permissions)
    .join(user_roles, user_roles.c.other == roles.c.role_uuid)
    .where(user_roles.c.owner == bindparam("user")),
    list,
)


async def ends_of_rights(db: Session, user_id: int) -> RightEnds:
    found = {name: FOR_GOOD for names in await db.all(_own, user=user_id) for name in names}
    for names, expires in await db.all(_through_groups, user=user_id):
        for name in names:
            found[name] = max(found.get(name, expires or FOR_GOOD), expires or FOR_GOOD)
    return found


def lasts_longer(before: RightEnds, after: RightEnds) -> bool:
    """Whether any right has come, or ends later."""
    return any(name not in before or end > before[name] for name, end in after.items())
