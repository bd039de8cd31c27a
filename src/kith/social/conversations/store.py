from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, literal, select, update

from kith.base.db import Session, add_once, any_of, command, insert_into, query
from kith.base.paging import Cursor
from kith.social.conversations.tables import Conversation, conversation_statuses, conversations
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.notifications.tables import notifications
from kith.social.statuses.tables import DIRECT, statuses

_C, _CS = conversations.c, conversation_statuses.c
_me: BindParameter[Any] = bindparam("me")
_id: BindParameter[Any] = bindparam("id")
_list = IdList(select(conversations).where(_C.account_id == _me), _C.last_status_id, row=Conversation)
_one = query(select(conversations).where(and_(_C.id == _id, _C.account_id == _me)), Conversation)
_by_id = query(select(conversations).where(_C.id == _id), Conversation)
_same = query(
    select(conversations).where(
        and_(
            _C.account_id == _me,
            _C.thread_id == bindparam("thread"),
            _C.participants == bindparam("participants"),
        )
    ),
    Conversation,
)
_insert = command(insert_into(conversations))
_move = command(
    update(conversations)
    .where(_C.id == _id)
    .values(last_status_id=bindparam("last"), unread=bindparam("unread", type_=_C.unread.type))
)
_mark = command(update(conversations).where(_C.id == _id).values(unread=bindparam("unread", type_=_C.unread.type)))
_remove = command(delete(conversations).where(_C.id == _id))
_add_status = command(add_once(conversation_statuses))
_with_status = query(select(_CS.conversation_id).where(any_of(_CS.status_id, "ids")).distinct(), int)
_drop_statuses = command(delete(conversation_statuses).where(any_of(_CS.status_id, "ids")))
_newest = query(select(func.max(_CS.status_id)).where(_CS.conversation_id == _id), int)
_with_person = query(
    select(_C.id).where(
        and_(_C.account_id == _me, _C.participants.contains(literal(",").concat(bindparam("other")).concat(",")))
    ),
    int,
)
_of_author = query(
    select(_CS.status_id)
    .join(statuses, statuses.c.id == _CS.status_id)
    .where(statuses.c.account_id == bindparam("author"))
    .distinct()
    .limit(bindparam("most")),
    StatusId,
)
_told = query(
    select(notifications.c.status_id)
    .join(statuses, statuses.c.id == notifications.c.status_id)
    .where(and_(notifications.c.id == _id, ~notifications.c.filtered, statuses.c.visibility == DIRECT)),
    StatusId,
)
_remove_own = command(delete(conversations).where(_C.account_id == _me))


async def page(db: Session, me: AccountId, cursor: Cursor) -> list[Conversation]:
    """Those with the newest post first."""
    statement, values = _list.form(cursor)
    found: list[Conversation] = await db.all(statement, me=me, **values)
    return cursor.newest_first(found)


async def find(db: Session, me: AccountId, conversation_id: int) -> Conversation | None:
    return await db.one(_one, me=me, id=conversation_id)


async def find_by_id(db: Session, conversation_id: int) -> Conversation | None:
    return await db.one(_by_id, id=conversation_id)


async def find_same(db: Session, me: AccountId, thread_id: int, participants: str) -> Conversation | None:
    return await db.one(_same, me=me, thread=thread_id, participants=participants)


async def insert(db: Session, one: Conversation) -> None:
    await db.run(_insert, **{name: getattr(one, name) for name in Conversation.__struct_fields__})


async def move(db: Session, conversation_id: int, *, last_status_id: StatusId, unread: bool) -> None:
    await db.run(_move, id=conversation_id, last=last_status_id, unread=unread)


async def mark(db: Session, conversation_id: int, *, unread: bool) -> None:
    await db.run(_mark, id=conversation_id, unread=unread)


async def remove(db: Session, conversation_id: int) -> None:
    await db.run(_remove, id=conversation_id)


async def add_status(db: Session, conversation_id: int, status_id: StatusId) -> bool:
    """False where it is in there already."""
    return bool(await db.run(_add_status, conversation_id=conversation_id, status_id=status_id))


async def with_statuses(db: Session, status_ids: Sequence[StatusId]) -> list[int]:
    return await db.all(_with_status, ids=list(status_ids))


async def drop_statuses(db: Session, status_ids: Sequence[StatusId]) -> None:
    await db.run(_drop_statuses, ids=list(status_ids))


async def newest_in(db: Session, conversation_id: int) -> StatusId | None:
    found = await db.one(_newest, id=conversation_id)
    return None if found is None else StatusId(found)


async def with_person(db: Session, me: AccountId, other: AccountId) -> list[int]:
    return await db.all(_with_person, me=me, other=str(other))


async def statuses_by(db: Session, author: AccountId, most: int) -> list[StatusId]:
    """Of one author, that are in anybody's conversations."""
    return await db.all(_of_author, author=author, most=most)


async def direct_post_told(db: Session, notification_id: int) -> StatusId | None:
    """The direct post that a notification tells its reader of, unless it was filtered."""
    return await db.one(_told, id=notification_id)


async def remove_own(db: Session, me: AccountId) -> None:
    await db.run(_remove_own, me=me)
