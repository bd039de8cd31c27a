"""Answers that are lists of entities made already: joined, linked and cached as clients expect."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.exchange import Answer, Exchange, Headers
from kith.base.paging import Cursor, CursorKind, link_header, public_url
from kith.social.errors import PRIVATE as FOR_ONE

JSON = (b"content-type", b"application/json; charset=utf-8")
PRIVATE = (b"cache-control", b"private, no-store")
PUBLIC = (b"cache-control", b"public, max-age=15, stale-while-revalidate=30, stale-if-error=86400")
VARY = (b"vary", b"Authorization")


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
    """A list with its `Link` header. `ids` are what the list is walked by, also of what could not be shown."""
    body = joined(entities)
    return page_of(exchange, cursor, body, ids, kind=kind, is_timeline=is_timeline, status=status, headers=headers)


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
