from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, select, update

from kith.base.db import Session, add_once, command, insert_into, query
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import A, AccountRow
from kith.social.accounts.lines import lines as account_lines
from kith.social.id_lists import IdList
from kith.social.ids import AccountId
from kith.social.lists.tables import List, lists, members

_me: BindParameter[Any] = bindparam("me")
_list: BindParameter[Any] = bindparam("list")
_account: BindParameter[Any] = bindparam("account")
_of = query(select(lists).where(lists.c.account_id == _me).order_by(lists.c.id), List)
_one = query(select(lists).where(and_(lists.c.id == _list, lists.c.account_id == _me)), List)
_count = query(select(func.count()).select_from(lists).where(lists.c.account_id == _me), int)
_with = query(
    select(lists)
    .join(members, members.c.list_id == lists.c.id)
    .where(and_(lists.c.account_id == _me, members.c.account_id == _account))
    .order_by(lists.c.id),
    List,
)
_insert = command(insert_into(lists))
_change = command(
    update(lists)
    .where(lists.c.id == _list)
    .values(
        title=bindparam("title"),
        replies_policy=bindparam("replies_policy"),
        exclusive=bindparam("exclusive", type_=lists.c.exclusive.type),
    )
)
_remove = command(delete(lists).where(lists.c.id == _list))
_members = query(select(members.c.account_id).where(members.c.list_id == _list).order_by(members.c.id), AccountId)
_add = command(add_once(members))
_drop = command(delete(members).where(and_(members.c.list_id == _list, members.c.account_id == _account)))
# People are walked along their own ids.
_people = IdList(
    account_lines(members.join(A, A.c.id == members.c.account_id)).where(and_(members.c.list_id == _list, is_there(A))),
    A.c.id,
    row=AccountRow,
)


async def all_of(db: Session, me: AccountId) -> list[List]:
    return await db.all(_of, me=me)


async def find(db: Session, me: AccountId, list_id: int) -> List | None:
    """A list of one's own."""
    return await db.one(_one, me=me, list=list_id)


async def count(db: Session, me: AccountId) -> int:
    return await db.one(_count, me=me) or 0


async def with_member(db: Session, me: AccountId, account_id: AccountId) -> list[List]:
    """Those of one's lists that somebody is on."""
    return await db.all(_with, me=me, account=account_id)


async def insert(db: Session, new: List) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in List.__struct_fields__})


async def change(db: Session, changed: List) -> None:
    await db.run(
        _change,
        list=changed.id,
        title=changed.title,
        replies_policy=changed.replies_policy,
        exclusive=changed.exclusive,
    )


async def remove(db: Session, list_id: int) -> None:
    await db.run(_remove, list=list_id)


async def members_of(db: Session, list_id: int) -> list[AccountId]:
    return await db.all(_members, list=list_id)


async def add(db: Session, list_id: int, account_id: AccountId, *, id: int) -> bool:
    """False when they were on it already."""
    return await db.run(_add, id=id, list_id=list_id, account_id=account_id) == 1


async def drop(db: Session, list_id: int, account_id: AccountId) -> bool:
    return await db.run(_drop, list=list_id, account=account_id) == 1


def people() -> IdList:
    return _people
