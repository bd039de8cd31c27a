from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, String, and_, bindparam, delete, func, or_, select

from kith.base.db import UID, Instant, Session, any_of, command, query, upsert
from kith.identity.groups.tables import IS_MEMBER, Membership, groups, members

_memberships = query(
    select(members.c.user_id, members.c.group_uuid)
    .where(and_(any_of(members.c.user_id, "users"), IS_MEMBER))
    .order_by(members.c.user_id, members.c.group_uuid),
    tuple,
)
_above = select(groups.c.group_uuid).where(groups.c.is_superuser).cte("mighty", recursive=True)
_mighty = query(
    select(_above.union(select(groups.c.group_uuid).where(groups.c.parent == _above.c.group_uuid)).c.group_uuid),
    str,
)
_user, _group = bindparam("user_id", type_=Integer()), bindparam("group_uuid", type_=UID())
_new = upsert(members).values(group_uuid=_group, user_id=_user, expires=bindparam("expires", type_=Instant()))
_join = command(
    _new.on_conflict_do_update(
        index_elements=[members.c.group_uuid, members.c.user_id], set_={"expires": _new.excluded.expires}
    ).inline()
)
# What somebody has for good, or for longer, stays.
_join_for_longer = command(
    _new.on_conflict_do_update(
        index_elements=[members.c.group_uuid, members.c.user_id],
        set_={"expires": _new.excluded.expires},
        where=members.c.expires < _new.excluded.expires,
    ).inline()
)
_is_it = and_(members.c.group_uuid == _group, members.c.user_id == _user)
_leave = command(delete(members).where(_is_it))
# Somebody may have set another end meanwhile.
_end = command(delete(members).where(and_(_is_it, members.c.expires <= bindparam("now", type_=Instant()))))
_membership = query(select(members).where(and_(_is_it, IS_MEMBER)), Membership)
_any_membership = query(
    select(members.c.user_id).where(and_(members.c.user_id == bindparam("user"), IS_MEMBER)).limit(1), int
)
_next_end = query(
    select(func.min(members.c.expires)).where(and_(members.c.user_id == bindparam("user"), IS_MEMBER)), datetime
)
_over = query(
    select(members)
    .where(members.c.expires <= bindparam("now", type_=Instant()))
    .order_by(members.c.expires)
    .limit(bindparam("most")),
    Membership,
)
_below = select(groups.c.group_uuid).where(any_of(groups.c.group_uuid, "groups")).cte("below", recursive=True)
_people_in = query(
    select(members.c.user_id)
    .where(
        and_(
            IS_MEMBER,
            members.c.group_uuid.in_(
                select(
                    _below.union(select(groups.c.group_uuid).where(groups.c.parent == _below.c.group_uuid)).c.group_uuid
                )
            ),
        )
    )
    .distinct()
    .order_by(members.c.user_id)
    .limit(bindparam("most")),
    int,
)
_one = query(
    select(groups.c.group_uuid).where(
        or_(
            groups.c.name == bindparam("called", type_=String()),
            groups.c.group_uuid == bindparam("group", type_=UID()),
        )
    ),
    str,
)
_members_of = query(
    select(members.c.user_id)
    .where(and_(members.c.group_uuid == bindparam("group", type_=UID()), IS_MEMBER))
    .order_by(members.c.user_id),
    int,
)


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


async def join(db: Session, group_uuid: str, user_id: int, *, expires: datetime | None = None) -> None:
    """Make somebody a member, until `expires` or for good; whoever is one already gets this end."""
    await db.run(_join, group_uuid=group_uuid, user_id=user_id, expires=expires)


async def join_for_longer(db: Session, group_uuid: str, user_id: int, expires: datetime) -> bool:
    """The same, unless they are a member for good or for longer: then False."""
    return await db.run(_join_for_longer, group_uuid=group_uuid, user_id=user_id, expires=expires) == 1


async def leave(db: Session, group_uuid: str, user_id: int) -> bool:
    """False if they were no member."""
    return await db.run(_leave, group_uuid=group_uuid, user_id=user_id) == 1


async def end(db: Session, group_uuid: str, user_id: int, now: datetime) -> bool:
    """End a membership whose end has come; False if it has not."""
    return await db.run(_end, group_uuid=group_uuid, user_id=user_id, now=now) == 1


async def membership(db: Session, group_uuid: str, user_id: int) -> Membership | None:
    return await db.one(_membership, group_uuid=group_uuid, user_id=user_id)


async def over(db: Session, now: datetime, *, most: int) -> list[Membership]:
    """Memberships whose end has come."""
    return await db.all(_over, now=now, most=most)


async def next_end(db: Session, user_id: int) -> datetime | None:
    """When the first of somebody's memberships ends."""
    return await db.one(_next_end, user=user_id)


async def people_in(db: Session, group_uuids: Sequence[str], *, most: int) -> list[int]:
    """The members of these groups and of all groups below them."""
    return await db.all(_people_in, groups=list(group_uuids), most=most) if group_uuids else []


async def is_there(db: Session, *, name: str | None = None, group_uuid: str | None = None) -> bool:
    """Whether there is a group of this name or with this id."""
    return await db.one(_one, called=name, group=group_uuid) is not None


async def is_mighty(db: Session, user_id: int) -> bool:
    if await db.one(_any_membership, user=user_id) is None:
        return False
    return not (await superuser_groups(db)).isdisjoint((await memberships(db, [user_id]))[user_id])
