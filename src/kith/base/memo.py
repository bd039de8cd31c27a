"""What was read stays true as long as nobody has written.

SQLite says in a few microseconds whether anyone, in any process, has committed since. So an answer that depends
on the database alone may be kept and given again, and is never stale. PostgreSQL has no such word: there
nothing is kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kith.base.db import Database

__all__ = ["Memo"]


ENTRY_BYTES = 300


class Memo:
    """Ask for `now` once per request, and hand it to `get` and `put`."""

    MOST_BYTES = 16 << 20

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._kept: dict[Hashable, Any] = {}
        self._bytes = 0

    def now(self) -> int | None:
        version = self._database.version()
        if version != self._version:
            self._version = version
            self._kept.clear()
            self._bytes = 0
        return version

    def get(self, version: int | None, key: Hashable) -> Any:
        return self._kept.get(key) if version == self._version else None

    def put(self, version: int | None, key: Hashable, value: object, *, size: int = 512) -> None:
        """Keep what was read since `now`, unless somebody has written meanwhile or there is no room left.

        The key counts too: often part of it is the client's own words, which may be longer than what was found.
        """
        size += ENTRY_BYTES + _length(key)
        if version is None or version != self._version or self._bytes + size > self.MOST_BYTES:
            return
        if version == self._database.version():
            self._kept[key] = value
            self._bytes += size


def _length(key: Hashable) -> int:
    if isinstance(key, tuple):
        return sum(map(_length, key))
    return len(key) if isinstance(key, bytes) else 4 * len(key) if isinstance(key, str) else 0
