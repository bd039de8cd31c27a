"""Where a request carries the key of its token: in a header, or in a parameter; our own pages have their session."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from kith.base.exchange import Exchange
from kith.base.params import LIMITS, read_body
from kith.identity import for_social as identity

__all__ = ["find_key", "header_key"]

MOST_IN_FORM = 1 << 20


async def find_key(exchange: Exchange) -> str | identity.PageSession:
    """The header says it, or a parameter does: in the query, or in a form, which is read for this alone only then.

    The session of a page is no text, so that nothing that somebody sends can be taken for one.
    """
    found = header_key(exchange)
    if found is not None:
        return found
    query = exchange.query_string
    if b"_token=" in query:
        named = _named(parse_qs(query.decode("latin-1")))
        if named:
            return named
    if exchange.method != "GET":
        length = exchange.header(b"content-length")
        if length.isdigit() and 0 < int(length) <= MOST_IN_FORM and b"_token" in await exchange.body(MOST_IN_FORM):
            named = _named(await read_body(exchange, LIMITS))  # all of it is here, files too
            if named:
                return named
    return (await identity.session_of_page(exchange) if exchange.header(b"cookie") else None) or ""


def header_key(exchange: Exchange) -> str | None:
    scheme, _, rest = exchange.header(b"authorization").partition(b" ")
    return rest.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def _named(sent: dict[str, Any]) -> str:
    for name in ("access_token", "bearer_token"):
        value = sent.get(name)
        value = value[-1] if isinstance(value, list) and value else value
        if isinstance(value, str) and value:
            return value
    return ""
