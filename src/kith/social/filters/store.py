from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, select, update

from kith.base.db import Session, add_once, any_of, command, insert_into, query, upsert
from kith.social.filters.tables import (
    Filter,
    FilteredStatus,
    Keyword,
    filtered_statuses,
    filters,
    keywords,
    versions,
)
from kith.social.ids import AccountId, StatusId

_me: BindParameter[Any] = bindparam("me")
_id: BindParameter[Any] = bindparam("id")
_of_accounts = query(select(filters).where(any_of(filters.c.account_id, "accounts")).order_by(filters.c.id), Filter)
_one = query(select(filters).where(and_(filters.c.id == _id, filters.c.account_id == _me)), Filter)
_count = query(select(func.count()).select_from(filters).where(filters.c.account_id == _me), int)
_insert = command(insert_into(filters))
_change = command(
    update(filters)
    .where(filters.c.id == _id)
    .values(
        {name: bindparam(name, type_=filters.c[name].type) for name in ("title", "context", "action", "expires_at")}
    )
)
_delete = command(delete(filters).where(filters.c.id == _id))

_own_keyword = (
    select(keywords)
    .join(filters, filters.c.id == keywords.c.filter_id)
    .where(and_(keywords.c.id == _id, filters.c.account_id == _me))
)
_keyword = query(_own_keyword, Keyword)
_keywords = query(select(keywords).where(any_of(keywords.c.filter_id, "ids")).order_by(keywords.c.id), Keyword)
_count_keywords = query(
    select(func.count())
    .select_from(keywords.join(filters, filters.c.id == keywords.c.filter_id))
    .where(filters.c.account_id == _me),
    int,
)
_insert_keyword = command(insert_into(keywords))
_change_keyword = command(
    update(keywords)
    .where(keywords.c.id == _id)
    .values(keyword=bindparam("keyword"), whole_word=bindparam("whole_word", type_=keywords.c.whole_word.type))
)
_delete_keyword = command(delete(keywords).where(keywords.c.id == _id))

_status = query(
    select(filtered_statuses)
    .join(filters, filters.c.id == filtered_statuses.c.filter_id)
    .where(and_(filtered_statuses.c.id == _id, filters.c.account_id == _me)),
    FilteredStatus,
)
_statuses = query(
    select(filtered_statuses).where(any_of(filtered_statuses.c.filter_id, "ids")).order_by(filtered_statuses.c.id),
    FilteredStatus,
)
_add_status = command(add_once(filtered_statuses))
_delete_status = command(delete(filtered_statuses).where(filtered_statuses.c.id == _id))

_version = query(select(versions.c.version).where(versions.c.account_id == _me), int)
_versions = query(
    select(versions.c.account_id, versions.c.version).where(any_of(versions.c.account_id, "accounts")), tuple
)
_new = upsert(versions).values(account_id=bindparam("me"), version=bindparam("version"))
_set_version = command(
    _new.on_conflict_do_update(index_elements=["account_id"], set_={"version": _new.excluded.version}).inline()
)


async def all_of(db: Session, me: AccountId) -> list[Filter]:
    return await of_all(db, [me])


async def of_all(db: Session, accounts: Collection[AccountId]) -> list[Filter]:
    return await db.all(_of_accounts, accounts=list(accounts))


async def find(db: Session, me: AccountId, filter_id: int) -> Filter | None:
    return await db.one(_one, me=me, id=filter_id)


async def count(db: Session, me: AccountId) -> int:
    return await db.one(_count, me=me) or 0


async def insert(db: Session, one: Filter) -> None:
    await db.run(_insert, **{name: getattr(one, name) for name in Filter.__struct_fields__})


async def change(db: Session, one: Filter) -> None:
    await db.run(_change, id=one.id, title=one.title, context=one.context, action=one.action, expires_at=one.expires_at)


async def remove(db: Session, filter_id: int) -> None:
    await db.run(_delete, id=filter_id)


async def find_keyword(db: Session, me: AccountId, keyword_id: int) -> Keyword | None:
    return await db.one(_keyword, me=me, id=keyword_id)


async def keywords_of(db: Session, filter_ids: Sequence[int]) -> list[Keyword]:
    return await db.all(_keywords, ids=list(filter_ids)) if filter_ids else []


async def count_keywords(db: Session, me: AccountId) -> int:
    return await db.one(_count_keywords, me=me) or 0


async def insert_keyword(db: Session, one: Keyword) -> None:
    await db.run(_insert_keyword, **{name: getattr(one, name) for name in Keyword.__struct_fields__})


async def change_keyword(db: Session, one: Keyword) -> None:
    await db.run(_change_keyword, id=one.id, keyword=one.keyword, whole_word=one.whole_word)


async def remove_keyword(db: Session, keyword_id: int) -> None:
    await db.run(_delete_keyword, id=keyword_id)


async def find_status(db: Session, me: AccountId, id: int) -> FilteredStatus | None:
    return await db.one(_status, me=me, id=id)


async def statuses_of(db: Session, filter_ids: Sequence[int]) -> list[FilteredStatus]:
    return await db.all(_statuses, ids=list(filter_ids)) if filter_ids else []


async def add_status(db: Session, *, id: int, filter_id: int, status_id: StatusId) -> bool:
    """False where it is in the filter already."""
    return bool(await db.run(_add_status, id=id, filter_id=filter_id, status_id=status_id))


async def remove_status(db: Session, id: int) -> None:
    await db.run(_delete_status, id=id)


async def version_of(db: Session, me: AccountId) -> int | None:
    """None for somebody who never had a filter."""
    return await db.one(_version, me=me)


async def versions_of(db: Session, accounts: Collection[AccountId]) -> dict[AccountId, int]:
    """Of those who have ever had a filter."""
    return dict(await db.all(_versions, accounts=list(accounts))) if accounts else {}


async def set_version(db: Session, me: AccountId, version: int) -> None:
    await db.run(_set_version, me=me, version=version)
