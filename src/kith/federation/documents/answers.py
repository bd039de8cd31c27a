"""How documents leave: their type, for whom caches may keep them, and where people are led instead."""

from __future__ import annotations

import msgspec

from kith.base.errors import Problem
from kith.base.exchange import Answer, Dialect, Exchange
from kith.federation.vocabulary.outgoing.contexts import context_of
from kith.social import errors
from kith.social.ids import AccountId
from kith.social.representations import ACTIVITY_JSON

__all__ = ["DIALECT", "encode", "explained", "negotiated", "page_instead"]

_TYPE = (b"content-type", f"{ACTIVITY_JSON}; charset=utf-8".encode())
_FOR_ALL = (b"cache-control", b"public, max-age=180, stale-while-revalidate=30, stale-if-error=86400")
_FOR_ONE = (b"cache-control", b"private, no-store")
_NEGOTIATED = (b"vary", b"Accept, Origin")
_SIGNED = (b"vary", b"Accept, Origin, Signature")

encode = msgspec.json.Encoder().encode


def _shape(problem: Problem, exchange: Exchange) -> Answer:
    """What is not there may be there soon, and what is refused here may be a page."""
    made = errors.shape(problem, exchange)
    vary = (b"vary", b"Accept, Accept-Language, Signature")
    return Answer(made.status, (*(one for one in made.headers if one[0] != b"vary"), vary), made.body)


DIALECT: Dialect = msgspec.structs.replace(errors.DIALECT, name="federation", shape=_shape, fold=None)


def explained(document: bytes, terms: frozenset[str]) -> bytes:
    """A document that is JSON already, with its context in front."""
    return b'{"@context":%b,%b' % (encode(context_of(terms)), document[1:])


def negotiated(
    exchange: Exchange, body: bytes, me: AccountId | None, *, is_open: bool = True, status: int = 200
) -> Answer:
    """`is_open`: whether every stranger gets the same. What carries a cookie is for whoever asked."""
    is_for_all = is_open and me is None and not exchange.server.works.settings.is_members_only and not exchange.cookies
    caching = (_FOR_ALL, _NEGOTIATED) if is_for_all else (_FOR_ONE, _SIGNED)
    return Answer(status, (_TYPE, *caching), body)


def page_instead(to: str) -> Answer:
    """For people: the page is at another address than the document."""
    headers: tuple[tuple[bytes, bytes], ...] = ((b"location", to.encode()), _NEGOTIATED)
    return Answer(301, (*headers, (b"cache-control", b"public, max-age=180")))
