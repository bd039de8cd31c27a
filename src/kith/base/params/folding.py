"""Parameters in the body of a GET: they become part of the query string, which is all that routes look at then.

Some clients send the parameters of every request in its body. What the body names counts, whatever the query says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from multipart import parse_options_header  # type: ignore[import-untyped]

from kith.base.exchange import Exchange
from kith.base.params.body import parse_json
from kith.base.params.nesting import split_pairs

__all__ = ["flatten", "fold_body"]

MOST_BYTES = 64 * 1024
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"

Pairs = list[tuple[str, str]]


async def fold_body(exchange: Exchange) -> None:
    """Bodies of other kinds say nothing that a GET could mean, and are left alone."""
    media_type = parse_options_header(exchange.header(b"content-type").decode("latin-1"))[0]
    if media_type not in (_JSON, _FORM):
        return
    body = await exchange.body(MOST_BYTES)
    sent = flatten(parse_json(body)) if media_type == _JSON else split_pairs(body) if body else []
    if not sent:
        return
    roots = {_root(name) for name, _ in sent}
    query = exchange.query_string
    kept = [pair for pair in split_pairs(query) if _root(pair[0]) not in roots] if query else []
    exchange.scope["query_string"] = urlencode([*kept, *sent]).encode()


def _root(name: str) -> str:
    return name.partition("[")[0]


def flatten(sent: dict[str, Any]) -> Pairs:
    """A nested value as a form would carry it; null is not sent."""
    return [pair for name, value in sent.items() for pair in _pairs(name, value)]


def _pairs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _pairs(f"{name}[{key}]", inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pairs(f"{name}[]", inner)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif value is not None:
        yield name, str(value).encode(errors="replace").decode()
