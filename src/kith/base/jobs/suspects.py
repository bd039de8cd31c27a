"""Jobs whose worker died while it ran them.

One of them may have been the cause. So that only that one is blamed when it happens again, each is run while nothing
else runs in this process: first those that run already are waited for, and meanwhile no lane takes a new one. Both
waits are short, because a job may also run for half an hour, and others must not stand still for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from kith.base.jobs.tables import Claimed

__all__ = ["Suspects"]

QUIET_SECONDS = 10.0
ALONE_SECONDS = 10.0
_LOOK_SECONDS = 0.02


class Suspects:
    """`claim` takes the next one, `do` runs it; `held` are the jobs that run in this process."""

    def __init__(
        self,
        held: set[int],
        claim: Callable[[], Awaitable[Claimed | None]],
        do: Callable[[Claimed], Coroutine[Any, Any, None]],
    ) -> None:
        self._held, self._claim, self._do = held, claim, do
        self._asked = asyncio.Event()
        self._asked.set()
        self._open = asyncio.Event()
        self._claiming = 0

    def look(self) -> None:
        """There may be some, or nothing more to look for: the worker stops."""
        self._asked.set()

    def let_wait(self) -> None:
        """Others are taken without them; they stay where they are until somebody runs."""
        self._open.set()

    @asynccontextmanager
    async def others(self) -> AsyncIterator[None]:
        """Jobs that are not suspects are taken inside this, so not while one is run alone."""
        while not self._open.is_set():
            await self._open.wait()
        self._claiming += 1
        try:
            yield
        finally:
            self._claiming -= 1

    async def run(self, stopping: asyncio.Event, grace: float) -> None:
        """From the start, before any lane, and whenever somebody has seen one."""
        ending = asyncio.create_task(stopping.wait())
        try:
            while not stopping.is_set():
                await self._asked.wait()
                self._asked.clear()
                await self._clear_up(ending, grace)
                self._open.set()
        finally:
            self._open.set()
            ending.cancel()

    async def _clear_up(self, ending: asyncio.Task[bool], grace: float) -> None:
        while not ending.done():
            self._open.clear()
            await self._until_quiet()
            job = await self._claim()
            if job is None:
                return
            running = asyncio.create_task(self._do(job))
            try:
                await asyncio.wait({running, ending}, timeout=ALONE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if not running.done():
                    self._open.set()
                await asyncio.wait({running, ending}, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.wait({running}, timeout=grace)
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    async def _until_quiet(self) -> None:
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                while self._held or self._claiming:  # noqa: ASYNC110 - a set that others change
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            return
