"""Records as CSV, a page at a time, so that a hundred thousand of them need no more memory than five hundred."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import select

from kith.base.db import METADATA, Query, any_of, query
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.server.call import ClientGone
from kith.base.spreadsheets import harmless, write_quoted
from kith.base.work import Work, Works
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.rest.fields import References
from kith.identity.rest.list_query import ListQuery
from kith.identity.rest.record import Record
from kith.identity.rest.record_store import RecordStore
from kith.identity.rest.resource import Resource

PAGE = 500
LOOK_SECONDS = 1.0  # after which the caller is looked at again
EXPORTS = LimitRule("exports", most=30, seconds=3600)


def cell(value: Any) -> str:
    """A value as a spreadsheet may open it: text that would be a formula there begins with an apostrophe."""
    match value:
        case None | msgspec.UNSET:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case datetime():
            return value.isoformat()
        case dict():
            return msgspec.json.encode(value).decode()
        case list() | tuple():
            text = "; ".join(str(one) for one in value)
        case _:
            text = str(value)
    return harmless(text.replace("\0", ""))


def lines_of(rows: Iterable[Sequence[Any]]) -> bytes:
    written = write_quoted(([cell(value) for value in row] for row in rows), line_end="\r\n")
    return written.encode("utf-8", "replace")


def file_answer(exchange: Exchange, name: str, pieces: AsyncIterator[bytes]) -> Answer:
    """A download that may take as long as it gets on."""
    exchange.scope["extensions"]["kith.pipe"].take_long()
    filename = f"{name}-{exchange.work.now:%Y-%m-%d}.csv"
    headers = (
        (b"content-type", b"text/csv; charset=utf-8"),
        (b"content-disposition", f'attachment; filename="{filename}"'.encode()),
        (b"cache-control", b"no-store"),
    )
    return Answer(200, headers, pieces=_while_allowed(exchange, pieces))


async def _while_allowed(exchange: Exchange, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces, for as long as the caller may have them: whoever reads slowly gets nothing of what was read later."""
    looked = time.monotonic()
    async for piece in pieces:
        if time.monotonic() - looked > LOOK_SECONDS:
            if not await exchange.may_go_on():
                exchange.scope["extensions"]["kith.pipe"].cut()  # the file is not whole, and its reader must notice
                raise ClientGone
            looked = time.monotonic()
        yield piece


async def note_export(work: Work, caller_id: int | None, username: str, what: str, filters: dict[str, Any]) -> None:
    """Written down before the first line leaves."""
    context = {"message": f"A list was exported: {what}", "filters": filters}
    await audit.record(work, "data_export", what, user_id=caller_id, username=username, context=context)


def spend_export(exchange: Exchange, caller: ApiCaller) -> None:
    exchange.find(Limiter).spend(EXPORTS, str(caller.id))


async def records(works: Works, wanted: ListQuery[Any]) -> AsyncIterator[bytes]:
    """The lines of a list, as its query says, in the order of the collection's export.

    Each page is a read of its own, so that nothing waits for a slow reader.
    """
    store = wanted.store
    columns = store.resource.export
    attributes = [store.attributes[name] for name in columns]
    yield lines_of([columns])
    last: Record | None = None
    while True:
        async with works.begin() as work:
            found = await wanted.fetch_after(work, last, PAGE)
            named = await _named(work, store, found)
        yield lines_of(
            [[named.get((name, record.pk), getattr(record, name)) for name in attributes] for record in found]
        )
        if len(found) < PAGE:
            return
        last = found[-1]


async def _named(work: Work, store: RecordStore[Any], found: Sequence[Record]) -> dict[tuple[str, Any], list[str]]:
    """Names in place of the identifiers in lists of references."""
    named: dict[tuple[str, Any], list[str]] = {}
    for field in store.links:
        name = store.attributes[field.name]
        if field.name not in store.resource.export:
            continue
        ids = sorted({id for record in found for id in getattr(record, name)})
        names: dict[Any, str] = dict(await work.db.all(_names(field), ids=ids)) if ids else {}
        named |= {(name, record.pk): [names.get(id, str(id)) for id in getattr(record, name)] for record in found}
    return named


@lru_cache(16)
def _names(field: References) -> Query[Any]:
    table_name, _, column = field.to.partition(".")
    table = METADATA.tables[table_name]
    return query(select(table.c[column], table.c.name).where(any_of(table.c[column], "ids")), tuple)


def place_of(resource: Resource[Any]) -> str:
    """What an export of a collection is called in files and in the audit trail."""
    return f"{resource.area}.{resource.model}"
