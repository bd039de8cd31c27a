"""Answers that are lists of entities made already: joined, linked and cached as clients expect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from kith.base.breath import Breath
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.paging import Cursor, CursorKind, link_header, public_url
from kith.social.errors import PRIVATE as FOR_ONE

JSON = (b"content-type", b"application/json; charset=utf-8")
PRIVATE = (b"cache-control", b"private, no-store")
PUBLIC = (b"cache-control", b"public, max-age=15, stale-while-revalidate=30, stale-if-error=86400")
VARY = (b"vary", b"Authorization")
MOST_BYTES = 8 << 20  # of all entities of a page; the first one is there in any case
Row = TypeVar("Row")
Id = TypeVar("Id", bound=int)


def answer(exchange: Exchange, body: bytes, *, status: int = 200, headers: Headers = ()) -> Answer:
    """One entity, or anything that is JSON already. Kept by caches only where nobody in particular asked."""
    return Answer(status, (JSON, *_caching(exchange), *headers), body)


def _caching(exchange: Exchange) -> tuple[tuple[bytes, bytes], ...]:
    """Whoever brought a token has been told already that it is for nobody else."""
    if exchange.dialect is FOR_ONE or PRIVATE in exchange.dialect.headers:
        return ()
    return (PUBLIC if exchange.method == "GET" else PRIVATE, VARY)


def joined(entities: Sequence[bytes]) -> bytes:
    """A JSON array. The brackets are put on single entities, so that a long list is copied once."""
    if len(entities) < 2:
        return b"[%b]" % b",".join(entities)
    first, *others, last = entities
    return b",".join([b"[" + first, *others, last + b"]"])


def list_of(
    exchange: Exchange,
    cursor: Cursor,
    entities: Sequence[bytes],
    ids: Sequence[int | str],
    *,
    kind: CursorKind,
    is_timeline: bool = False,
    status: int = 200,
    headers: Headers = (),
) -> Answer:
    """A list with its `Link` header. `ids` are what the list is walked by, also of what could not be shown.

    A page that would be too long ends before, and its link leads on from there.
    """
    if len(entities) == len(ids):
        part = fitting([len(one) for one in entities], from_the_end=cursor.is_ascending)
        if part is not None:
            entities, ids = entities[part], ids[part]
            cursor = shortened(cursor, len(ids))
    body = joined(entities)
    return page_of(exchange, cursor, body, ids, kind=kind, is_timeline=is_timeline, status=status, headers=headers)


def shortened(cursor: Cursor, length: int) -> Cursor:
    """The cursor of a page that has ended before: it links on from what is there."""
    return msgspec.structs.replace(cursor, limit=length)


def fitting(lengths: Sequence[int], *, from_the_end: bool = False) -> slice | None:
    """Which of them a page has room for, None for all: those next to where it was asked for, which may be its end."""
    room = MOST_BYTES
    for count, length in enumerate(reversed(lengths) if from_the_end else lengths):
        room -= length
        if room < 0 and count:
            return slice(len(lengths) - count, None) if from_the_end else slice(count)
    return None


def ids_of(ids: Sequence[Id], shown: Sequence[Id], *, from_the_end: bool = False) -> Sequence[Id]:
    """Of the ids by which a page is walked those up to the last that it shows: it has ended before the others."""
    return ids[ids.index(shown[0]) :] if from_the_end else ids[: ids.index(shown[-1]) + 1]


async def fill(
    rows: Sequence[Row],
    render: Callable[[Sequence[Row]], Awaitable[Sequence[bytes]]],
    *,
    at_once: int,
    from_the_end: bool = False,
) -> tuple[list[Row], list[bytes]]:
    """As many rows as a page has room for, and what they are shown as: some at a time, with others served between.

    For lists of which one row is long, or which are long themselves. Nothing is made that has no room.
    """
    left = list(reversed(rows)) if from_the_end else list(rows)
    taken: list[Row] = []
    shown: list[bytes] = []
    room, breath = MOST_BYTES, Breath()
    for start in range(0, len(left), at_once):
        some = left[start : start + at_once]
        for row, one in zip(some, await render(some), strict=True):
            room -= len(one)
            if room < 0 and shown:
                break
            taken.append(row)
            shown.append(one)
        if room < 0:
            break
        await breath.take()
    return (taken[::-1], shown[::-1]) if from_the_end else (taken, shown)


def page_of(
    exchange: Exchange,
    cursor: Cursor,
    body: bytes,
    ids: Sequence[int | str],
    *,
    kind: CursorKind,
    is_timeline: bool = False,
    status: int = 200,
    headers: Headers = (),
) -> Answer:
    """The same of a list that is JSON already."""
    url = public_url(exchange.server.works.settings.base_url, exchange.path)
    link = link_header(url, cursor, ids, kind=kind, is_timeline=is_timeline)
    if link:
        headers = ((b"link", link.encode()), *headers)
    return answer(exchange, body, status=status, headers=headers)


def page(
    exchange: Exchange, cursor: Cursor, entities: Sequence[bytes], ids: Sequence[int], *, kind: CursorKind
) -> Answer:
    return list_of(exchange, cursor, entities, ids, kind=kind)


def numbers(ids: Sequence[str]) -> list[int]:
    """Ids from a parameter, each once; what is none names nothing."""
    known = (int(id) for id in ids if id.isascii() and id.isdigit() and len(id) <= 19)
    return list(dict.fromkeys(id for id in known if id < 1 << 63))
