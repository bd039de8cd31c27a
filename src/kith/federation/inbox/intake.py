"""Activities that were believed, on their way into the database: all that come at once share a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from kith.base import asking
from kith.base.caches import ForAWhile
from kith.base.errors import Throttled, Unavailable
from kith.base.http.sites import registrable_domain
from kith.base.work import Works
from kith.federation.delivery.hosts import heard_from
from kith.federation.inbox import store
from kith.federation.inbox.floods import has_put_off, has_too_much_waiting
from kith.federation.inbox.tables import Received
from kith.federation.inbox.tasks import TAKE, TakeWaiting
from kith.federation.inbox.turns import milliseconds

__all__ = ["Intake", "as_many_as_have_room"]

AT_ONCE = 100
BYTES_AT_ONCE = 2 * 1024 * 1024
LOOKED_AT_SECONDS = 5.0
AGAIN_SECONDS = 60
HEARD_SECONDS = 60.0
MOST_HOSTS = 10_000


class _Waiting(msgspec.Struct, frozen=True):
    row: Received
    host: str
    kept: asyncio.Future[None]


class Intake:
    """Whoever hands in an activity goes on once it is on disk."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._waiting: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._latest = 0  # what comes later is never taken before it, though the clock be set back
        self._over: ForAWhile[bool] = ForAWhile("sites_over", seconds=LOOKED_AT_SECONDS, most=MOST_HOSTS)
        self._heard: ForAWhile[bool] = ForAWhile("hosts_heard", seconds=HEARD_SECONDS, most=MOST_HOSTS)

    async def keep(self, row: Received, host: str) -> None:
        """`host` has spoken: what waits for it is sent again, which is looked at once in a minute."""
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        site = registrable_domain(host)
        await self._refuse_too_much(site)
        self._latest = max(self._latest, milliseconds())
        row = msgspec.structs.replace(row, site=site, turn=self._latest)
        self._waiting.append(_Waiting(row, host, kept))
        if self._writing is None:
            self._writing = asking.begin_for_everybody(self._write_all())
        await kept

    async def _refuse_too_much(self, site: str) -> None:
        """Who is refused sends it again later. A site is looked at once in some seconds."""
        is_over = self._over.get(site)
        if is_over is None:
            async with self._works.begin() as work:
                is_over = await has_put_off(work, site) or await has_too_much_waiting(work, site)
            self._over.put(site, is_over)
        if is_over:
            raise Throttled(AGAIN_SECONDS)

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                count = as_many_as_have_room([one.row.size for one in self._waiting[:AT_ONCE]])
                batch, self._waiting = self._waiting[:count], self._waiting[count:]
                await self._write_batch(batch)
        finally:
            self._writing = None

    async def _write_batch(self, batch: Sequence[_Waiting]) -> None:
        """If several fail together, each gets its own turn and its own answer, unless the database takes nothing."""
        try:
            await self._write(batch)
        except Unavailable as error:
            for one in batch:
                _fail(one, error)
            return
        except Exception as error:  # noqa: BLE001 - passed on to whoever waits
            if len(batch) > 1:
                for one in batch:
                    await self._write_batch([one])
                return
            _fail(batch[0], error)
            return
        for one in batch:
            if not one.kept.done():
                one.kept.set_result(None)

    async def _write(self, batch: Sequence[_Waiting]) -> None:
        async with self._works.begin() as work:
            await store.add(work.db, [one.row for one in batch])
            work.enqueue(TAKE, TakeWaiting())
            spoke = sorted({one.host for one in batch if not self._heard.get(one.host)})
            for host in spoke:
                await heard_from(work, host)
        for host in spoke:
            self._heard.put(host, True)


def as_many_as_have_room(sizes: Sequence[int]) -> int:
    """How many of those that wait are written together, at least one: nobody else can write meanwhile."""
    room = BYTES_AT_ONCE
    for number, size in enumerate(sizes[:AT_ONCE]):
        room -= size
        if number and room < 0:
            return number
    return min(len(sizes), AT_ONCE)


def _fail(one: _Waiting, error: Exception) -> None:
    if not one.kept.done():
        one.kept.set_exception(error)
        one.kept.exception()
