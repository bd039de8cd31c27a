"""What became of deliveries, written down as it becomes known.

Between the answer of a host and the end of this transaction lies the only moment in which a process that dies leaves
a delivery to be made a second time. So nothing is collected: what comes while a transaction is on its way to the disk
is the next one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime

import msgspec

from kith.base import asking
from kith.base.errors import Unavailable
from kith.base.metrics import DELIVERIES
from kith.base.work import Works
from kith.federation.delivery import store
from kith.federation.delivery.rules import DeliveryResult

__all__ = ["Ledger", "Outcome"]

ATTEMPTS = 10
PAUSE_SECONDS = 0.5


class Outcome(msgspec.Struct, frozen=True):
    delivery_id: int
    outgoing_id: int
    result: DeliveryResult
    attempts: int = 0
    again_at: datetime | None = None


class Ledger:
    def __init__(self, works: Works) -> None:
        self._works = works
        self._waiting: list[tuple[Outcome, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    def record(self, outcome: Outcome) -> asyncio.Future[None]:
        """Done when it is on disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((outcome, written))
        if self._task is None:
            self._task = asking.begin_for_everybody(self._work())
        return written

    async def close(self) -> None:
        if self._task is not None:
            await self._task

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._write(batch)
        finally:
            self._task = None

    async def _write(self, batch: list[tuple[Outcome, asyncio.Future[None]]]) -> None:
        error: Exception | None = None
        try:
            await self._keep([outcome for outcome, _ in batch])
        except Exception as raised:  # noqa: BLE001 - told to everyone who waits
            error = raised
        for _, written in batch:
            if written.done():
                continue
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

    async def _keep(self, outcomes: list[Outcome]) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await self._write_down(outcomes)
            except Unavailable:
                if attempt == ATTEMPTS:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                break
        for result, count in Counter(one.result for one in outcomes).items():
            DELIVERIES.labels(result.value).inc(count)

    async def _write_down(self, outcomes: list[Outcome]) -> None:
        ended = [one for one in outcomes if one.again_at is None]
        put_off = [
            {"delivery": one.delivery_id, "tried": one.attempts, "again_at": one.again_at}
            for one in outcomes
            if one.again_at is not None
        ]
        async with self._works.begin() as work:
            if ended:
                await store.finish(work.db, [one.delivery_id for one in ended], {one.outgoing_id for one in ended})
            if put_off:
                await store.put_off(work.db, put_off)
