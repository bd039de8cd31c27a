"""How many messages are on their way at once: a push service that is slow must not hold up those that are not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from kith.base.caches import ForAWhile

__all__ = ["Busy", "Slots"]

PER_HOST = 8
PER_ACCOUNT = 4
WAIT_SECONDS = 3.0
BUSY_SECONDS = 30.0


class Busy(Exception):  # noqa: N818 - not an error: it is tried later
    """As many as may be are on their way to this host, or for this person."""


class Slots:
    """Whoever waits in vain has those after them not even wait, for a while."""

    def __init__(self) -> None:
        self._open: WeakValueDictionary[tuple[str, str | int], asyncio.Semaphore] = WeakValueDictionary()
        self._busy: ForAWhile[bool] = ForAWhile("push_busy", seconds=BUSY_SECONDS, most=1000)

    @asynccontextmanager
    async def take(self, host: str, account_id: int) -> AsyncIterator[None]:
        limits: dict[tuple[str, str | int], int] = {("account", account_id): PER_ACCOUNT, ("host", host): PER_HOST}
        async with AsyncExitStack() as held:
            for key, most in limits.items():
                await held.enter_async_context(self._one(key, most))
            yield

    @asynccontextmanager
    async def _one(self, key: tuple[str, str | int], most: int) -> AsyncIterator[None]:
        semaphore = self._open.setdefault(key, asyncio.Semaphore(most))
        if semaphore.locked() and self._busy.get(key):
            raise Busy
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await semaphore.acquire()
        except TimeoutError:
            self._busy.put(key, True)
            raise Busy from None
        try:
            yield
        finally:
            semaphore.release()
