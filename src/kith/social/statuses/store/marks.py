"""Favourites, bookmarks, pins and muted conversations."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Session, add_once, command, query
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.access import ME
from kith.social.statuses.tables import bookmarks, conversation_mutes, favourites, pins

_marks = {"favourites": favourites, "bookmarks": bookmarks, "pins": pins}
_add_mark = {name: command(add_once(table)) for name, table in _marks.items()}
_drop_mark = {
    name: command(delete(table).where(and_(table.c.account_id == ME, table.c.status_id == bindparam("status"))))
    for name, table in _marks.items()
}
_unfavourite = query(
    delete(favourites)
    .where(and_(favourites.c.account_id == ME, favourites.c.status_id == bindparam("status")))
    .returning(favourites.c.id),
    int,
)
_unpin_all = command(delete(pins).where(pins.c.status_id == bindparam("status")))
_count_pins = query(select(pins.c.status_id).where(pins.c.account_id == ME), StatusId)
_add_mute = command(add_once(conversation_mutes))
_drop_mute = command(
    delete(conversation_mutes).where(
        and_(conversation_mutes.c.account_id == ME, conversation_mutes.c.conversation_id == bindparam("conversation"))
    )
)


async def mark(db: Session, name: str, me: AccountId, status_id: StatusId, *, id: int, now: datetime) -> bool:
    """Favourite, bookmark or pin; False when it was there already."""
    return await db.run(_add_mark[name], id=id, account_id=me, status_id=status_id, created_at=now) == 1


async def unmark(db: Session, name: str, me: AccountId, status_id: StatusId) -> bool:
    return await db.run(_drop_mark[name], me=me, status=status_id) == 1


async def unfavourite(db: Session, me: AccountId, status_id: StatusId) -> int | None:
    """The id of what is no favourite any more."""
    return await db.one(_unfavourite, me=me, status=status_id)


async def pinned_by(db: Session, me: AccountId) -> list[StatusId]:
    return await db.all(_count_pins, me=me)


async def mute_conversation(db: Session, me: AccountId, conversation_id: int) -> None:
    await db.run(_add_mute, account_id=me, conversation_id=conversation_id)


async def unmute_conversation(db: Session, me: AccountId, conversation_id: int) -> None:
    await db.run(_drop_mute, me=me, conversation=conversation_id)


async def unpin_everywhere(db: Session, status_id: StatusId) -> None:
    await db.run(_unpin_all, status=status_id)
