from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, case, delete, func, literal_column, or_, select, update

from kith.base.db import Instant, Session, add_once, any_of, command, insert_into, query
from kith.base.paging import Cursor
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.announcements.tables import Announcement, ReactionCount, announcements, reactions, reads
from kith.social.id_lists import IdList
from kith.social.ids import AccountId

_id: BindParameter[Any] = bindparam("id")
_me: BindParameter[Any] = bindparam("me")
_name: BindParameter[Any] = bindparam("name")
_now = bindparam("now", type_=Instant())
_one = query(select(announcements).where(announcements.c.id == _id), Announcement)
_published = query(
    select(announcements)
    .where(announcements.c.published)
    .order_by(
        func.coalesce(announcements.c.starts_at, announcements.c.scheduled_at, announcements.c.published_at),
        announcements.c.id,
    ),
    Announcement,
)
_page = IdList(select(announcements), announcements.c.id, row=Announcement)
_waiting = query(
    select(announcements)
    .where(
        or_(
            and_(~announcements.c.published, announcements.c.scheduled_at <= _now),
            and_(announcements.c.published, announcements.c.ends_at <= _now),
        )
    )
    .order_by(announcements.c.id),
    Announcement,
)
_insert = command(insert_into(announcements))
_CHANGED = [name for name in Announcement.__struct_fields__ if name not in ("id", "created_at")]
_change = command(
    update(announcements)
    .where(announcements.c.id == _id)
    .values({name: bindparam(name, type_=announcements.c[name].type) for name in _CHANGED})
)
_delete = command(delete(announcements).where(announcements.c.id == _id))
_read = command(add_once(reads))
_read_by = query(select(reads.c.announcement_id).where(reads.c.account_id == _me), int)
_unread = command(delete(reads).where(reads.c.announcement_id == _id))
_counts = query(
    select(
        reactions.c.announcement_id,
        reactions.c.name,
        func.count().label("count"),
        func.max(case((reactions.c.account_id == _me, literal_column("1")), else_=literal_column("0"))).label("mine"),
    )
    .select_from(reactions.join(accounts, accounts.c.id == reactions.c.account_id))
    .where(and_(any_of(reactions.c.announcement_id, "ids"), is_there(accounts)))
    .group_by(reactions.c.announcement_id, reactions.c.name)
    .order_by(func.min(reactions.c.id)),
    ReactionCount,
)
_every = query(select(announcements).order_by(announcements.c.id), Announcement)
_names = query(select(reactions.c.name).distinct().where(reactions.c.announcement_id == _id), str)
_react = command(add_once(reactions))
_unreact = command(
    delete(reactions).where(
        and_(reactions.c.announcement_id == _id, reactions.c.account_id == _me, reactions.c.name == _name)
    )
)
_forget_reactions, _forget_reads = (
    command(delete(table).where(table.c.account_id == _me)) for table in (reactions, reads)
)


async def find(db: Session, id: int) -> Announcement | None:
    return await db.one(_one, id=id)


async def every(db: Session) -> list[Announcement]:
    return await db.all(_every)


async def published(db: Session) -> list[Announcement]:
    """The oldest first, by when they begin, were to be published, or were."""
    return await db.all(_published)


async def page(db: Session, cursor: Cursor) -> list[Announcement]:
    statement, values = _page.form(cursor)
    return cursor.newest_first(await db.all(statement, **values))


async def waiting(db: Session, now: Any) -> list[Announcement]:
    """Those whose time has come to be published, or may have come to an end."""
    return await db.all(_waiting, now=now)


async def insert(db: Session, new: Announcement) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in Announcement.__struct_fields__})


async def change(db: Session, one: Announcement) -> None:
    await db.run(_change, id=one.id, **{name: getattr(one, name) for name in _CHANGED})


async def remove(db: Session, id: int) -> None:
    await db.run(_delete, id=id)


async def mark_read(db: Session, id: int, me: AccountId) -> None:
    await db.run(_read, announcement_id=id, account_id=me)


async def forget_readers(db: Session, id: int) -> None:
    await db.run(_unread, id=id)


async def read_by(db: Session, me: AccountId) -> set[int]:
    return set(await db.all(_read_by, me=me))


async def reaction_counts(db: Session, ids: Sequence[int], me: AccountId | None) -> list[ReactionCount]:
    return await db.all(_counts, ids=list(ids), me=me or 0) if ids else []


async def reaction_names(db: Session, id: int) -> set[str]:
    return set(await db.all(_names, id=id))


async def react(db: Session, id: int, me: AccountId, name: str, *, reaction_id: int) -> bool:
    """False where they had reacted with it already."""
    return await db.run(_react, id=reaction_id, announcement_id=id, account_id=me, name=name) == 1


async def unreact(db: Session, id: int, me: AccountId, name: str) -> bool:
    return await db.run(_unreact, id=id, me=me, name=name) == 1


async def forget_account(db: Session, me: AccountId) -> None:
    await db.run(_forget_reactions, me=me)
    await db.run(_forget_reads, me=me)
