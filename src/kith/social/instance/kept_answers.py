"""Answers that are the same for everybody, kept as long as they are true.

On SQLite that is as long as nobody has written. PostgreSQL cannot tell, so there they may be some seconds old.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kith.base.caches import ForAWhile, UntilWritten
from kith.base.exchange import Answer
from kith.base.settings import Settings
from kith.base.stored_settings import SettingsChanged
from kith.base.work import Work
from kith.social.pages import JSON, PRIVATE, VARY

SECONDS = 2.0
FOR_ALL = (b"cache-control", b"public, max-age=300, stale-while-revalidate=30, stale-if-error=86400")
Make = Callable[[Work], Awaitable[bytes]]


class KeptAnswers:
    def __init__(self, memo: UntilWritten) -> None:
        self._memo = memo
        self._bodies: ForAWhile[bytes] = ForAWhile("instance", seconds=SECONDS, most=32)

    def forget(self, _fact: SettingsChanged) -> None:
        self._bodies.clear()

    async def get(self, work: Work, name: str, make: Make) -> bytes:
        if not work.settings.is_sqlite:
            return await self._for_a_while(work, name, make)
        return await self._memo.keep(("instance", name, work.now.date()), lambda: make(work))

    async def _for_a_while(self, work: Work, name: str, make: Make) -> bytes:
        body = self._bodies.get(name)
        if body is None:
            body = await make(work)
            self._bodies.put(name, body)
        return body


def told(
    settings: Settings, body: bytes, *headers: tuple[bytes, bytes], status: int = 200, is_open: bool = False
) -> Answer:
    """The same for everybody who may ask, so that anything on the way may keep it."""
    caching = [FOR_ALL] if is_open or not settings.is_members_only else [PRIVATE, VARY]
    return Answer(status, (JSON, *caching, *headers), body)


async def kept(work: Work, name: str, make: Make, *headers: tuple[bytes, bytes], is_open: bool = False) -> Answer:
    return told(work.settings, await work.find(KeptAnswers).get(work, name, make), *headers, is_open=is_open)
