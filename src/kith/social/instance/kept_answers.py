"""Answers that are the same for everybody, kept as long as they are true.

On SQLite that is as long as nobody has written. PostgreSQL cannot tell, so there they may be some seconds old.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kith.base.caches import ForAWhile, UntilWritten
from kith.base.work import Work

SECONDS = 2.0


class KeptAnswers:
    def __init__(self, memo: UntilWritten) -> None:
        self._memo = memo
        self._bodies: ForAWhile[bytes] = ForAWhile("instance", seconds=SECONDS, most=32)

    async def get(self, work: Work, name: str, make: Callable[[Work], Awaitable[bytes]]) -> bytes:
        if not work.settings.is_sqlite:
            return await self._for_a_while(work, name, make)
        return await self._memo.keep(("instance", name, work.now.date()), lambda: make(work))

    async def _for_a_while(self, work: Work, name: str, make: Callable[[Work], Awaitable[bytes]]) -> bytes:
        body = self._bodies.get(name)
        if body is None:
            body = await make(work)
            self._bodies.put(name, body)
        return body
