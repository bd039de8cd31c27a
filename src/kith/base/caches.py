"""What is kept in memory because it was expensive to find out: a few kinds, by how long it stays true.

- `UntilWritten`: true until somebody writes to the database.
- `ByVersion`: kept under a key that names a version, or something that never changes, so it is never out of date.
- `ForAWhile`: true enough for so many seconds.

Each has a name, under which its entries, their size, hits and misses are told to whoever watches the server, and a
limit that no number of requests can exceed. docs/explanation/caches.md lists them all.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from kith.base.db import Database, Session
from kith.base.metrics import CACHE_BYTES, CACHE_ENTRIES, CACHE_HITS, CACHE_MISSES

__all__ = ["ByVersion", "Cache", "ForAWhile", "UntilWritten", "tell"]

Value = TypeVar("Value")
Found = TypeVar("Found")

ENTRY_BYTES = 300  # what an entry costs besides its value
_all: WeakSet[Cache] = WeakSet()


class Cache:
    """Hits and misses are plain numbers, for they are counted with every look-up; `tell` passes them on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hits = 0
        self.misses = 0
        _all.add(self)

    def count(self) -> int:
        raise NotImplementedError

    def size(self) -> int:
        """About how many bytes its entries take."""
        return ENTRY_BYTES * self.count()


class UntilWritten(Cache):
    """What was read stays true as long as nobody has written.

    SQLite says in a few microseconds whether anyone, in any process, has committed since. So an answer that depends
    on the database alone may be kept and given again, and is never out of date. PostgreSQL cannot tell: there nothing
    is kept. Ask for `now` once per request, and hand it to `get` and `put`.
    """

    MOST_BYTES = 16 << 20

    def __init__(self, name: str, database: Database) -> None:
        super().__init__(name)
        self._database = database
        self._version: int | None = None
        self._kept: dict[Hashable, Any] = {}
        self._bytes = 0

    def count(self) -> int:
        return len(self._kept)

    def size(self) -> int:
        return self._bytes

    def now(self) -> int | None:
        version = self._database.version()
        if version != self._version:
            self._version = version
            self._kept.clear()
            self._bytes = 0
        return version

    def get(self, version: int | None, key: Hashable) -> Any:
        found = self._kept.get(key) if version == self._version else None
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

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

    async def look_up(
        self,
        db: Session,
        key: Hashable,
        read: Callable[[], Awaitable[Found | None]],
        *,
        is_true: Callable[[Found], bool] | None = None,
        size: Callable[[Found], int] | int = 512,
    ) -> Found | None:
        """What `read` finds, kept until somebody writes, or `is_true` says that time has made it wrong.

        Whoever writes sees what nobody else sees yet: nothing is kept of that, and nothing kept is shown to them.
        """
        if db.is_writing:
            return await read()
        version = self.now()
        found: Found | None = None if version is None else self.get(version, key)
        if found is None or (is_true is not None and not is_true(found)):
            found = await read()
            if found is not None:
                self.put(version, key, found, size=size if isinstance(size, int) else size(found))
        return found

    async def keep(self, key: Hashable, make: Callable[[], Awaitable[bytes]], *, more: int = 0) -> bytes:
        """What `make` gives, made once while nobody writes. `more` is what the key takes beyond its texts."""
        version = self.now()
        found: bytes | None = None if version is None else self.get(version, key)
        if found is None:
            found = await make()
            self.put(version, key, found, size=len(found) + more)
        return found


class ByVersion(Cache, Generic[Value]):
    """Whoever asks brings the version, as part of the key.

    Two generations: what is used moves to the young one; when that is full, the old one is forgotten. So what was
    asked for least recently goes.
    """

    def __init__(self, name: str, most_bytes: int) -> None:
        super().__init__(name)
        self._most = most_bytes // 2
        self._young: dict[Hashable, tuple[Value, int]] = {}
        self._old: dict[Hashable, tuple[Value, int]] = {}
        self._bytes = 0
        self._old_bytes = 0

    def count(self) -> int:
        return len(self._young) + len(self._old)

    def size(self) -> int:
        return self._bytes + self._old_bytes

    def get(self, key: Hashable) -> Value | None:
        found = self._young.get(key)
        if found is not None:
            self.hits += 1
            return found[0]
        found = self._old.pop(key, None)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._old_bytes -= found[1]
        self._keep(key, found)
        return found[0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        self._keep(key, (value, size + ENTRY_BYTES))

    def _keep(self, key: Hashable, held: tuple[Value, int]) -> None:
        if self._bytes + held[1] > self._most:
            self._old, self._old_bytes = self._young, self._bytes
            self._young, self._bytes = {}, 0
        self._young[key] = held
        self._bytes += held[1]


class ForAWhile(Cache, Generic[Value]):
    """Kept for `seconds`, and of at most `most`.

    Two generations here, too: a new one begins when the young one is full, or older than anything in it can last.
    """

    def __init__(self, name: str, *, seconds: float, most: int) -> None:
        super().__init__(name)
        self._seconds = seconds
        self._most = max(1, most // 2)
        self._young: dict[Hashable, tuple[float, Value]] = {}
        self._old: dict[Hashable, tuple[float, Value]] = {}
        self._began = 0.0

    def count(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: Hashable) -> Value | None:
        found = self._young.get(key) or self._old.get(key)
        if found is None or found[0] <= time.monotonic():
            self.misses += 1
            return None
        self.hits += 1
        return found[1]

    def put(self, key: Hashable, value: Value, *, seconds: float | None = None) -> None:
        """`seconds`: a shorter while than the others have."""
        now = time.monotonic()
        if len(self._young) >= self._most or now - self._began >= self._seconds:
            self._old, self._young, self._began = self._young, {}, now
        self._young[key] = now + (self._seconds if seconds is None else min(seconds, self._seconds)), value

    def clear(self) -> None:
        self._young, self._old = {}, {}


def tell() -> None:
    """What was counted since the last time, and how much is kept now, by name."""
    entries, sizes = Counter[str](), Counter[str]()
    for cache in list(_all):
        entries[cache.name] += cache.count()
        sizes[cache.name] += cache.size()
        hits, misses = cache.hits, cache.misses
        cache.hits, cache.misses = 0, 0
        CACHE_HITS.labels(cache.name).inc(hits)
        CACHE_MISSES.labels(cache.name).inc(misses)
    for name, count in entries.items():
        CACHE_ENTRIES.labels(name).set(count)
        CACHE_BYTES.labels(name).set(sizes[name])


def _length(key: Hashable) -> int:
    if isinstance(key, tuple):
        return sum(map(_length, key))
    return len(key) if isinstance(key, bytes) else 4 * len(key) if isinstance(key, str) else 0
