from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, select, update

from kith.base.db import Instant, Session, any_of, command, insert_into, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.lists.tables import members
from kith.social.statuses.tables import bookmarks, statuses
from kith.social.transfers.tables import Import, ImportRow, import_rows, imports

PAGE = 500
_me: BindParameter[Any] = bindparam("me")
_import: BindParameter[Any] = bindparam("import")
_most: BindParameter[Any] = bindparam("most")
_insert = command(insert_into(imports))
_insert_rows = command(insert_into(import_rows))
_one = query(select(imports).where(imports.c.id == _import), Import)
_recent = query(select(imports).where(imports.c.account_id == _me).order_by(imports.c.id.desc()).limit(_most), Import)
_running = query(select(func.count()).where(and_(imports.c.account_id == _me, imports.c.state != "finished")), int)
_rows = select(import_rows.c.id, import_rows.c.data).where(import_rows.c.import_id == _import)
_waiting = query(_rows.where(~import_rows.c.has_failed).order_by(import_rows.c.id).limit(_most), ImportRow)
_failed = query(_rows.where(import_rows.c.has_failed).order_by(import_rows.c.id), ImportRow)
_rows_after = query(
    _rows.where(import_rows.c.id > bindparam("after")).order_by(import_rows.c.id).limit(_most), ImportRow
)
_drop = command(delete(import_rows).where(any_of(import_rows.c.id, "ids")))
_fail = command(update(import_rows).where(any_of(import_rows.c.id, "ids")).values(has_failed=True))
_count = command(
    update(imports)
    .where(imports.c.id == _import)
    .values(done=imports.c.done + bindparam("more_done"), failed=imports.c.failed + bindparam("more_failed"))
)
_set_state = command(
    update(imports)
    .where(imports.c.id == _import)
    .values(state=bindparam("state"), finished_at=bindparam("finished", type_=Instant()))
)
_forget = command(
    delete(imports).where(
        imports.c.id.in_(
            select(imports.c.id).where(imports.c.created_at < bindparam("before", type_=Instant())).limit(_most)
        )
    )
)
_members_after = query(
    select(accounts.c.id, accounts.c.username, accounts.c.domain)
    .select_from(members.join(accounts, accounts.c.id == members.c.account_id))
    .where(
        and_(
            members.c.list_id == bindparam("list"),
            members.c.account_id > bindparam("after"),
            accounts.c.deleted_at.is_(None),
        )
    )
    .order_by(members.c.account_id)
    .limit(_most),
    tuple,
)
_bookmarked_after = query(
    select(bookmarks.c.id, statuses.c.id, statuses.c.uri)
    .select_from(bookmarks.join(statuses, statuses.c.id == bookmarks.c.status_id))
    .where(and_(bookmarks.c.account_id == _me, bookmarks.c.id > bindparam("after"), statuses.c.deleted_at.is_(None)))
    .order_by(bookmarks.c.id)
    .limit(_most),
    tuple,
)
_count_bookmarks = query(select(func.count()).select_from(bookmarks).where(bookmarks.c.account_id == _me), int)


async def insert(db: Session, new: Import, rows: Sequence[dict[str, Any]]) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in Import.__struct_fields__})
    for start in range(0, len(rows), PAGE):
        page = rows[start : start + PAGE]
        await db.many(_insert_rows, [{"import_id": new.id, "has_failed": False, **row} for row in page])
        await asyncio.sleep(0)  # others are served between two pages


async def find(db: Session, import_id: int) -> Import | None:
    return await db.one(_one, **{"import": import_id})


async def recent(db: Session, me: AccountId, most: int) -> list[Import]:
    return await db.all(_recent, me=me, most=most)


async def count_running(db: Session, me: AccountId) -> int:
    return await db.one(_running, me=me) or 0


async def waiting(db: Session, import_id: int, most: int) -> list[ImportRow]:
    return await db.all(_waiting, most=most, **{"import": import_id})


async def failed(db: Session, import_id: int) -> list[ImportRow]:
    return await db.all(_failed, **{"import": import_id})


async def rows_after(db: Session, import_id: int, after: int, most: int) -> list[ImportRow]:
    """All rows of a file, whatever became of them, page by page."""
    return await db.all(_rows_after, after=after, most=most, **{"import": import_id})


async def settle(db: Session, import_id: int, done: Sequence[int], failures: Sequence[int]) -> None:
    """Rows that are done go, those that failed stay and are marked."""
    if done:
        await db.run(_drop, ids=list(done))
    if failures:
        await db.run(_fail, ids=list(failures))
    await db.run(_count, more_done=len(done), more_failed=len(failures), **{"import": import_id})


async def set_state(db: Session, import_id: int, state: str, finished_at: datetime | None = None) -> None:
    await db.run(_set_state, state=state, finished=finished_at, **{"import": import_id})


async def forget_before(db: Session, before: datetime, most: int) -> int:
    return await db.run(_forget, before=before, most=most)


async def members_after(db: Session, list_id: int, after: int, most: int) -> list[tuple[AccountId, str, str]]:
    """Who is on a list behind somebody, by their own ids."""
    return await db.all(_members_after, after=after, most=most, list=list_id)


async def bookmarked_after(db: Session, me: AccountId, after: int, most: int) -> list[tuple[int, StatusId, str]]:
    return await db.all(_bookmarked_after, me=me, after=after, most=most)


async def count_bookmarks(db: Session, me: AccountId) -> int:
    return await db.one(_count_bookmarks, me=me) or 0
