"""Answers that are the same for everybody, kept as long as they are true.

On SQLite that is as long as nobody has written. PostgreSQL cannot tell, so there they may be some seconds old.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from kith.base.memo import Memo
from kith.base.work import Work

SECONDS = 2.0


class Kept:
    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._bodies: dict[str, tuple[float, bytes]] = {}

    async def get(self, work: Work, name: str, make: Callable[[Work], Awaitable[bytes]]) -> bytes:
        version = self._memo.now()
        if version is None:
            return await self._for_a_while(work, name, make)
        key = ("instance", name, work.now.date())
        found: bytes | None = self._memo.get(version, key)
        if found is None:
            found = await make(work)
            self._memo.put(version, key, found, size=len(found))
        return found

    async def _for_a_while(self, work: Work, name: str, make: Callable[[Work], Awaitable[bytes]]) -> bytes:
        made_at, body = self._bodies.get(name, (0.0, b""))
        if not body or time.monotonic() - made_at > SECONDS:
            made_at, body = time.monotonic(), await make(work)
            self._bodies[name] = made_at, body
        return body
