from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, or_, select, update

from kith.base.db import Session, any_of, command, insert_into, query
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.collections.tables import AccountCollection, CollectionItem, collection_items, collections
from kith.social.ids import AccountId
from kith.social.relationships import rules

ACCEPTED, REVOKED = "accepted", "revoked"
_id: BindParameter[Any] = bindparam("id")
_account: BindParameter[Any] = bindparam("account")
_one = query(select(collections).where(collections.c.id == _id), AccountCollection)
_count = query(select(func.count()).select_from(collections).where(collections.c.account_id == _account), int)
_own = select(collections).where(collections.c.account_id == _account)
_of = {
    all_of_them: query(
        (_own if all_of_them else _own.where(collections.c.discoverable))
        .order_by(collections.c.id.desc())
        .limit(bindparam("limit"))
        .offset(bindparam("offset")),
        AccountCollection,
    )
    for all_of_them in (False, True)
}
_with = query(
    select(collections)
    .join(collection_items, collection_items.c.collection_id == collections.c.id)
    .join(accounts, accounts.c.id == collections.c.account_id)
    .where(and_(collection_items.c.account_id == _account, collection_items.c.state == ACCEPTED, is_there(accounts)))
    .order_by(collections.c.id.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset")),
    AccountCollection,
)
_insert = command(insert_into(collections))
_CHANGED = [name for name in AccountCollection.__struct_fields__ if name not in ("id", "account_id", "created_at")]
_change = command(
    update(collections)
    .where(collections.c.id == _id)
    .values({name: bindparam(name, type_=collections.c[name].type) for name in _CHANGED})
)
_delete = command(delete(collections).where(collections.c.id == _id))
# Who is shown in collections: those who are there, and nobody whom the viewer does not want to see.
_shown = select(collection_items).join(accounts, accounts.c.id == collection_items.c.account_id)
_is_shown = and_(
    any_of(collection_items.c.collection_id, "ids"), collection_items.c.state == ACCEPTED, is_there(accounts)
)
_items = {
    anonymous: query(
        _shown.where(and_(_is_shown, rules.shows_author(None if anonymous else rules.ME, accounts))).order_by(
            collection_items.c.id
        ),
        CollectionItem,
    )
    for anonymous in (False, True)
}
_item = query(
    select(collection_items).where(
        and_(collection_items.c.collection_id == bindparam("collection"), collection_items.c.id == _id)
    ),
    CollectionItem,
)
_item_of = query(
    select(collection_items).where(
        and_(collection_items.c.collection_id == bindparam("collection"), collection_items.c.account_id == _account)
    ),
    CollectionItem,
)
_count_items = query(
    select(func.count())
    .select_from(collection_items)
    .where(and_(collection_items.c.collection_id == bindparam("collection"), collection_items.c.state == ACCEPTED)),
    int,
)
_accepted = query(
    select(collection_items)
    .where(and_(collection_items.c.collection_id == bindparam("collection"), collection_items.c.state == ACCEPTED))
    .order_by(collection_items.c.id),
    CollectionItem,
)
_by_ids = query(select(collections).where(any_of(collections.c.id, "ids")), AccountCollection)
_insert_item = command(insert_into(collection_items))
_delete_item = command(delete(collection_items).where(collection_items.c.id == _id))
_revoke_item = command(update(collection_items).where(collection_items.c.id == _id).values(state=REVOKED))
_forget = command(delete(collections).where(collections.c.account_id == _account))
_forget_items = command(delete(collection_items).where(collection_items.c.account_id == _account))
_owned = select(collections.c.id)
_part = command(
    delete(collection_items).where(
        or_(
            and_(
                collection_items.c.account_id == bindparam("target"),
                collection_items.c.collection_id.in_(_owned.where(collections.c.account_id == _account)),
            ),
            and_(
                collection_items.c.account_id == _account,
                collection_items.c.collection_id.in_(_owned.where(collections.c.account_id == bindparam("target"))),
            ),
        )
    )
)


async def find(db: Session, id: int) -> AccountCollection | None:
    return await db.one(_one, id=id)


async def count(db: Session, account_id: AccountId) -> int:
    return await db.one(_count, account=account_id) or 0


async def of_account(
    db: Session, account_id: AccountId, *, all_of_them: bool, limit: int, offset: int
) -> list[AccountCollection]:
    return await db.all(_of[all_of_them], account=account_id, limit=limit, offset=offset)


async def with_account(db: Session, account_id: AccountId, *, limit: int, offset: int) -> list[AccountCollection]:
    """Those that somebody is shown in."""
    return await db.all(_with, account=account_id, limit=limit, offset=offset)


async def insert(db: Session, new: AccountCollection) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in AccountCollection.__struct_fields__})


async def change(db: Session, one: AccountCollection) -> None:
    await db.run(_change, id=one.id, **{name: getattr(one, name) for name in _CHANGED})


async def remove(db: Session, id: int) -> None:
    await db.run(_delete, id=id)


async def items_of(db: Session, ids: Sequence[int], me: AccountId | None, now: Any) -> list[CollectionItem]:
    return await db.all(_items[me is None], ids=list(ids), me=me, now=now) if ids else []


async def find_item(db: Session, collection_id: int, id: int) -> CollectionItem | None:
    return await db.one(_item, collection=collection_id, id=id)


async def find_item_of(db: Session, collection_id: int, account_id: AccountId) -> CollectionItem | None:
    return await db.one(_item_of, collection=collection_id, account=account_id)


async def accepted_of(db: Session, collection_id: int) -> list[CollectionItem]:
    """Everybody in it, whoever looks."""
    return await db.all(_accepted, collection=collection_id)


async def by_ids(db: Session, ids: Sequence[int]) -> list[AccountCollection]:
    return await db.all(_by_ids, ids=list(ids))


async def count_items(db: Session, collection_id: int) -> int:
    return await db.one(_count_items, collection=collection_id) or 0


async def insert_item(db: Session, new: CollectionItem) -> None:
    await db.run(_insert_item, **{name: getattr(new, name) for name in CollectionItem.__struct_fields__})


async def remove_item(db: Session, id: int) -> None:
    await db.run(_delete_item, id=id)


async def revoke_item(db: Session, id: int) -> None:
    await db.run(_revoke_item, id=id)


async def part(db: Session, account_id: AccountId, target_id: AccountId) -> None:
    """Neither is in a collection of the other any more."""
    await db.run(_part, account=account_id, target=target_id)


async def forget_account(db: Session, account_id: AccountId) -> None:
    await db.run(_forget, account=account_id)
    await db.run(_forget_items, account=account_id)
