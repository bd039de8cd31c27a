from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from kith.base.db import UID, Session, add_once, any_of, command, query
from kith.identity.groups.tables import groups, members

_memberships = query(
    select(members.c.user_id, members.c.group_uuid)
    .where(any_of(members.c.user_id, "users"))
    .order_by(members.c.user_id, members.c.group_uuid),
    tuple,
)
_above = select(groups.c.group_uuid).where(groups.c.is_superuser).cte("mighty", recursive=True)
_mighty = query(
    select(_above.union(select(groups.c.group_uuid).where(groups.c.parent == _above.c.group_uuid)).c.group_uuid),
    str,
)
_join = command(add_once(members))
_members_of = query(
    select(members.c.user_id)
    .where(members.c.group_uuid == bindparam("group", type_=UID()))
    .order_by(members.c.user_id),
    int,
)
_any_membership = query(select(members.c.user_id).where(members.c.user_id == bindparam("user")).limit(1), int)


async def memberships(db: Session, user_ids: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {user_id: [] for user_id in user_ids}
    for user_id, group in await db.all(_memberships, users=list(user_ids)):
        found[user_id].append(group)
    return found


async def members_of(db: Session, group_uuid: str) -> list[int]:
    return await db.all(_members_of, group=group_uuid)


async def superuser_groups(db: Session) -> set[str]:
    """The groups whose members are superusers: those with the flag, and all groups below them."""
    return set(await db.all(_mighty))


async def join(db: Session, group_uuid: str, user_id: int) -> None:
    await db.run(_join, group_uuid=group_uuid, user_id=user_id)


async def is_mighty(db: Session, user_id: int) -> bool:
    if await db.one(_any_membership, user=user_id) is None:
        return False
    return not (await superuser_groups(db)).isdisjoint((await memberships(db, [user_id]))[user_id])
