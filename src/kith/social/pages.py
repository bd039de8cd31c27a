"""Answers that are lists of entities made already: joined, linked and cached as clients expect."""

from __future__ import annotations

from collections.abc import Sequence

from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send

from kith.base.edge import Answer, Exchange, Headers
from kith.base.errors import NotFound
from kith.base.paging import Cursor, Kind, link_header, public_url
from kith.social.errors import PRIVATE as FOR_ONE

JSON = (b"content-type", b"application/json; charset=utf-8")
PRIVATE = (b"cache-control", b"private, no-store")
PUBLIC = (b"cache-control", b"public, max-age=15, stale-while-revalidate=30, stale-if-error=86400")
VARY = (b"vary", b"Authorization")


def told(exchange: Exchange, body: bytes, *, status: int = 200, headers: Headers = ()) -> Answer:
    """One entity, or anything that is JSON already. Kept by caches only where nobody in particular asked."""
    return Answer(status, (JSON, *_caching(exchange), *headers), body)


def answer(exchange: Exchange, body: bytes, *, status: int = 200, headers: Headers = ()) -> ASGIResponse:
    return as_response(told(exchange, body, status=status, headers=headers))


class _Straight(ASGIResponse):
    """Handed to the edge as it is: the framework would take its headers apart and put them together again."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        exchange: Exchange = scope["kith"]  # type: ignore[typeddict-item]
        await exchange.answer(self._answer)


def as_response(answer: Answer) -> ASGIResponse:
    """The same for the framework."""
    return _Straight(answer)


def _caching(exchange: Exchange) -> tuple[tuple[bytes, bytes], ...]:
    """Whoever brought a token has been told already that it is for nobody else."""
    if exchange.face is FOR_ONE:
        return ()
    return (PUBLIC if exchange.scope["method"] == "GET" else PRIVATE, VARY)


def joined(entities: Sequence[bytes]) -> bytes:
    return b"[%b]" % b",".join(entities)


def list_of(
    exchange: Exchange, cursor: Cursor, entities: Sequence[bytes], ids: Sequence[int], *, kind: Kind,
    is_timeline: bool = False, status: int = 200, headers: Headers = (),
) -> Answer:  # fmt: skip
    """A list with its `Link` header. `ids` are what the list is walked by, also of what could not be shown."""
    url = public_url(exchange.edge.works.settings.base_url, exchange.path)
    link = link_header(url, cursor, ids, kind=kind, is_timeline=is_timeline)
    if link:
        headers = ((b"link", link.encode()), *headers)
    return told(exchange, joined(entities), status=status, headers=headers)


def page(
    exchange: Exchange, cursor: Cursor, entities: Sequence[bytes], ids: Sequence[int], *, kind: Kind
) -> ASGIResponse:
    return as_response(list_of(exchange, cursor, entities, ids, kind=kind))


def number(id: str) -> int:
    """An id from a path; what is none names nothing."""
    if not (id.isascii() and id.isdigit() and len(id) <= 19 and int(id) < 1 << 63):
        raise NotFound
    return int(id)


def numbers(ids: Sequence[str]) -> list[int]:
    """Ids from a parameter, each once; what is none names nothing."""
    known = (int(id) for id in ids if id.isascii() and id.isdigit() and len(id) <= 19)
    return list(dict.fromkeys(id for id in known if id < 1 << 63))
