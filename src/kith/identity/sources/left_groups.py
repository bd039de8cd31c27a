"""Groups that have left the source they came from."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from kith.base.db import UID, Session, command, query
from kith.identity.groups.tables import groups
from kith.identity.lost_names import keep_names_of_groups
from kith.identity.named_in_policies import find_naming
from kith.identity.rest.holders import holders

_remove = command(delete(groups).where(groups.c.group_uuid == bindparam("group", type_=UID())))

_name = query(select(groups.c.name).where(groups.c.group_uuid == bindparam("group", type_=UID())), str)


async def remove(db: Session, group_uuid: str) -> bool:
    """Delete a group; False where something here stands on it: then staff decide about it.

    Such as a group below, or a policy that names it.
    """
    for holder in holders(groups):
        if await db.all(holder.query, id=group_uuid):
            return False
    name = await db.one(_name, group=group_uuid)
    if name is not None and await find_naming(db, name, group_uuid) is not None:
        return False
    await keep_names_of_groups(db, [group_uuid])
    await db.run(_remove, group=group_uuid)
    return True
