"""Pages of long lists, in the two dialects kith speaks.

The identity API counts (`limit`, `offset`, an envelope around the results); the social API walks along ids
(`max_id`, `since_id`, `min_id`, a `Link` header). Both links keep every other parameter of the request.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from kith.base.caches import ByVersion

__all__ = ["Cursor", "CursorKind", "Envelope", "OffsetPage", "envelope", "link_header", "public_url"]

T = TypeVar("T")

_DEFAULT_LIMIT = 100
_MOST_LIMIT = 1000
_LEAST_ID, _MOST_ID = -(2**63), 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LONGEST_INTEGER = 400

Pairs = list[tuple[str, str]]


_urls: ByVersion[str] = ByVersion("public_urls", 4 << 20)


def public_url(base_url: str, path: str) -> str:
    """The address under which the outside knows `path`, a decoded path as the request holds it."""
    found = _urls.get((base_url, path))
    if found is None:
        found = base_url.rstrip("/") + quote(path, safe="/:@!$&'()*+=~", errors="replace")
        _urls.put((base_url, path), found, 4 * len(path) + len(found))
    return found


def _pairs(query: bytes) -> Pairs:
    """Read names and values byte for byte, so that they can be written again whatever they hold."""
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="latin-1")


def _link(url: str, pairs: Pairs, move: tuple[str, int | str] | None = None) -> str:
    """`url` with `pairs`; the id or number that `move` adds at their end needs no escape."""
    query = urlencode(pairs, encoding="latin-1") if pairs else ""
    if move is not None:
        query = f"{query}{'&' if query else ''}{move[0]}={move[1]}"
    return f"{url}?{query}" if query else url


def _integer(text: str | None) -> int | None:
    """Read a whole number of 64 bits, the nearest one if it is larger; anything else is no number."""
    text = (text or "").strip()
    if not _INTEGER.fullmatch(text):
        return None
    if len(text) > _LONGEST_INTEGER:
        return _LEAST_ID if text[0] == "-" else _MOST_ID
    return max(_LEAST_ID, min(int(text), _MOST_ID))


class OffsetPage(msgspec.Struct, frozen=True):
    """A stretch of a counted list; `query` is the request's query string as it came."""

    limit: int = _DEFAULT_LIMIT
    offset: int = 0
    query: bytes = b""

    @classmethod
    def read(cls, query: bytes) -> OffsetPage:
        """Read `limit` and `offset`; what makes no sense is as if it were not there."""
        if not query:
            return _FIRST_PAGE
        given = dict(_pairs(query))
        limit = _integer(given.get("limit")) or 0
        offset = _integer(given.get("offset")) or 0
        return cls(min(limit, _MOST_LIMIT) if limit > 0 else _DEFAULT_LIMIT, max(offset, 0), query)


_FIRST_PAGE = OffsetPage()


class Envelope(msgspec.Struct, Generic[T]):
    count: int
    next: str | None
    previous: str | None
    results: Sequence[T]


def envelope(url: str, page: OffsetPage, count: int, results: Sequence[T]) -> Envelope[T]:
    """Wrap one page's `results`; `url` is the collection's public address, without a query."""
    following = preceding = None
    if page.offset + page.limit < count:
        following = _page_link(url, page, page.offset + page.limit)
    if page.offset > 0:
        preceding = _page_link(url, page, page.offset - page.limit)
    return Envelope(count, following, preceding, results)


def _page_link(url: str, page: OffsetPage, offset: int) -> str:
    pairs = [pair for pair in _pairs(page.query) if pair[0] not in {"limit", "offset"}]
    pairs.append(("limit", str(page.limit)))
    if offset > 0:
        pairs.append(("offset", str(offset)))
    return _link(url, pairs)


class CursorKind(enum.Enum):
    """What a list is walked along, and which parameters move it.

    The ids of a record list belong to records the client never sees, such as the follow behind a follower.
    """

    STATUS = ("status", "max_id", "since_id", "min_id")
    RECORD = ("record", "max_id", "since_id")
    RECORD3 = ("record3", "max_id", "since_id", "min_id")
    OFFSET = ("offset", "offset")

    def __init__(self, word: str, *names: str) -> None:
        self.word = word
        self.names = names


_MOVING = frozenset(name for kind in CursorKind for name in kind.names)


class Cursor(msgspec.Struct, frozen=True):
    """Where in a list a client wants to read on.

    Rows are those strictly below `max_id` and strictly above `floor`. Read them from the oldest on if
    `is_ascending`, else from the newest; then pass them through `newest_first`.
    """

    limit: int
    max_id: int | None = None
    since_id: int | None = None
    min_id: int | None = None
    offset: int = 0
    query: bytes = b""

    @classmethod
    def read(cls, query: bytes, *, default: int, most: int, kind: CursorKind = CursorKind.STATUS) -> Cursor:
        """Read the parameters that `kind` knows; what is no number is as if it were not there."""
        if not query:
            return cls(default)
        given = dict(_pairs(query))
        moves = {name: _integer(given.get(name)) for name in kind.names}
        return cls(
            limit=min(abs(_integer(given.get("limit")) or default), most),
            max_id=moves.get("max_id"),
            since_id=moves.get("since_id"),
            min_id=moves.get("min_id"),
            offset=max(moves.get("offset") or 0, 0),
            query=query,
        )

    @property
    def floor(self) -> int | None:
        return self.since_id if self.min_id is None else self.min_id

    @property
    def is_ascending(self) -> bool:
        """With `min_id` the page is the one right after it, not the newest."""
        return self.min_id is not None

    def newest_first(self, rows: Sequence[T]) -> list[T]:
        return list(reversed(rows)) if self.is_ascending else list(rows)


def link_header(
    url: str, cursor: Cursor, ids: Sequence[int | str], *, kind: CursorKind, is_timeline: bool = False
) -> str | None:
    """Write the `Link` header for a page whose rows have `ids`, newest first; None if nothing is linked.

    A page that is not full is the last one, except in a timeline: what was filtered out of it may have left
    room, so it always links on. `url` is the list's public address, without a query.
    """
    if not ids:
        return None
    kept = [pair for pair in _pairs(cursor.query) if pair[0] not in _MOVING] if cursor.query else []
    links = []
    if is_timeline or len(ids) >= cursor.limit:
        move = ("offset", cursor.offset + cursor.limit) if kind is CursorKind.OFFSET else ("max_id", ids[-1])
        links.append(f'<{_link(url, kept, move)}>; rel="next"')
    if kind is not CursorKind.OFFSET:
        links.append(f'<{_link(url, kept, (kind.names[-1], ids[0]))}>; rel="prev"')
    elif cursor.offset > 0:
        links.append(f'<{_link(url, kept, ("offset", max(cursor.offset - cursor.limit, 0)))}>; rel="prev"')
    return ", ".join(links) or None
