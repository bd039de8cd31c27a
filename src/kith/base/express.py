"""The few addresses that are asked for all day, answered without the framework.

The framework has a route for each of them too, and serves whatever is spelled or asked in a less usual way: with
any parameter but those that move along a list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from kith.base.edge import Answer, Exchange

__all__ = ["Express", "Way"]

_MOVES = frozenset((b"limit", b"max_id", b"since_id", b"min_id"))


class Way(msgspec.Struct, frozen=True):
    """Who may go it, and what they get; `answer` is given the id in the path, 0 where there is none."""

    guard: Callable[[Exchange], Awaitable[None]]
    answer: Callable[[Exchange, int], Awaitable[Answer]]


class Express:
    """A mount of GETs, by their templates, in which the only gap is `{id}`."""

    def __init__(self, ways: Mapping[str, Way]) -> None:
        self._ways = dict(ways)

    async def answer(self, exchange: Exchange) -> Answer | None:
        if exchange.scope["method"] != "GET" or not _is_usual(exchange.scope["query_string"]):
            return None
        template, id = exchange.path, 0
        way = self._ways.get(template)
        if way is None:
            template, id = _with_a_gap(template)
            way = self._ways.get(template)
            if way is None:
                return None
        exchange.scope["path_template"] = template
        await way.guard(exchange)
        return await way.answer(exchange, id)


def _is_usual(query: bytes) -> bool:
    return not query or all(pair.partition(b"=")[0] in _MOVES for pair in query.split(b"&"))


def _with_a_gap(path: str) -> tuple[str, int]:
    parts = path.split("/")
    for place, part in enumerate(parts):
        if part.isascii() and part.isdigit() and len(part) < 19:
            parts[place] = "{id}"
            return "/".join(parts), int(part)
    return path, 0
