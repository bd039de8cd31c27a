"""What everything that a process sends has in common."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from kith.base.errors import Unavailable
from kith.base.http import Outgoing
from kith.base.work import Works
from kith.federation.delivery import store
from kith.federation.delivery.ledger import Ledger
from kith.federation.delivery.signing_desk import SigningDesk

__all__ = ["HELD", "Couriers"]

HELD = timedelta(seconds=30)  # and ever again, while this process lives
HOLD_AGAIN_SECONDS = 10.0


class Couriers:
    """What all that is sent by this process shares."""

    def __init__(self, works: Works) -> None:
        self.id = str(uuid.uuid4())
        self.is_alone = works.settings.is_sqlite  # then no other process sends
        self.outgoing: Outgoing = works.services[Outgoing]
        self.ledger = Ledger(works)
        self.desk = SigningDesk()
        self._works = works
        self._runs = 0
        self._holding: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """What is known is written down, and what was not sent is given back."""
        await self.ledger.close()
        await self.desk.close()
        if self._holding is not None:
            self._holding.cancel()
            async with self._works.begin() as work:
                await store.release_all(work.db, self.id)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While something is sent, what this process holds stays its own."""
        self._runs += 1
        if self._holding is None:
            self._holding = asyncio.create_task(self._hold())
        try:
            yield
        finally:
            self._runs -= 1

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(HOLD_AGAIN_SECONDS)
            if not self._runs:
                continue
            with suppress(Unavailable):
                async with self._works.begin() as work:
                    await store.hold(work.db, self.id, work.now + HELD)
