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


class Memo:
    """Ask for `now` once per request, and hand it to `get` and `put`."""

    MOST = 4096

    def __init__(self, database: Database) -> None:
        self._database = database
        self._version: int | None = None
        self._kept: dict[Hashable, Any] = {}

    def now(self) -> int | None:
        version = self._database.version()
        if version != self._version:
            self._version = version
            self._kept.clear()
        return version

    def get(self, version: int | None, key: Hashable) -> Any:  # noqa: ANN401 - what was put under `key`
        return self._kept.get(key) if version == self._version else None

    def put(self, version: int | None, key: Hashable, value: object) -> None:
        """Keep what was read since `now`, unless somebody has written meanwhile."""
        if version is not None and version == self._version == self._database.version():
            if len(self._kept) >= self.MOST:
                self._kept.clear()
            self._kept[key] = value
