"""64-bit ids that sort by time: 48 bits of milliseconds, then 16 bits that no other process has.

The low 16 bits are a slot, leased to this process in the database, and a counter. A slot belongs to one
process until its lease runs out, so two processes never make the same id; the milliseconds never go back
within a process, whatever the clock does, and a lease is only taken when its last moment has passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import NewType

from sqlalchemy import Column, SmallInteger, Table, and_, bindparam, func, select, update

from kith.base import asking
from kith.base.db import METADATA, UID, Database, Instant, add_once, command, query
from kith.base.errors import NoSpace, Unavailable
from kith.base.logger import Logger

__all__ = ["IDs", "UserId", "at_of", "id_at"]

UserId = NewType("UserId", int)  # of whoever is signed in

_log = Logger()
SLOTS = 256
COUNTER_BITS = 8
LEASE = timedelta(seconds=30)
RENEW_SECONDS = 10.0
LOOK_AGAIN_SECONDS = 1.0
TRY_AGAIN_SECONDS = 0.5

id_slots = Table(
    "base_id_slots",
    METADATA,
    Column("slot", SmallInteger, primary_key=True, autoincrement=False),
    Column("holder", UID, nullable=False),
    Column("leased_until", Instant, nullable=False),
)

_taken = query(select(id_slots.c.slot).where(id_slots.c.leased_until >= bindparam("now", type_=Instant())), int)
_known = query(select(id_slots.c.slot), int)
_claim = command(
    update(id_slots)
    .where(and_(id_slots.c.slot == bindparam("free"), id_slots.c.leased_until < bindparam("now", type_=Instant())))
    .values(holder=bindparam("holder"), leased_until=bindparam("until", type_=Instant()))
)
_add_once = command(add_once(id_slots))
_extend = command(
    update(id_slots)
    .where(and_(id_slots.c.slot == bindparam("mine"), id_slots.c.holder == bindparam("me", type_=UID())))
    .values(leased_until=bindparam("until", type_=Instant()))
)
_soonest = query(select(func.min(id_slots.c.leased_until)), datetime)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def id_at(at: datetime, tail: int = 0) -> int:
    """The smallest id of the moment `at` (or the one with `tail`)."""
    return _milliseconds(at) << 16 | tail


def at_of(id: int) -> datetime:
    return _EPOCH + (id >> 16) * _MILLISECOND


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


class Counter:
    """The sequence itself: pure, so that its promises can be tried without a database."""

    def __init__(self, slot: int, *, not_before: int = 0) -> None:
        self._tail = slot << COUNTER_BITS
        self._last_ms = not_before
        self._count = 0

    def next(self, now_ms: int) -> int:
        if now_ms > self._last_ms:
            self._last_ms = now_ms
            self._count = 0
        elif self._count + 1 < 1 << COUNTER_BITS:
            self._count += 1
        else:
            self._last_ms += 1
            self._count = 0
        return self._last_ms << 16 | self._tail | self._count

    @property
    def last_ms(self) -> int:
        return self._last_ms


class IDs:
    """This process's ids. `lease` before the first one, `keep` while running, `release` at the end."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._holder = str(uuid.uuid4())
        self._counter: Counter | None = None
        self._slot = -1
        self._until_ms = 0
        self._not_renewed: type[Unavailable] = Unavailable  # what the last renewal met
        self._has_run_out = asyncio.Event()

    def new(self) -> int:
        if self._counter is None:
            raise Unavailable("No id slot is leased")
        made = self._counter.next(time.time_ns() // 1_000_000)
        if made >> 16 >= self._until_ms:  # the millisecond it ends in may be the next holder's first
            self._has_run_out.set()  # early, where the clock was set forward
            raise self._not_renewed("The id slot's lease has run out")
        return made

    async def lease(self) -> None:
        """Take a free slot; when all are taken, wait for the first to run out."""
        while True:
            now = datetime.now(UTC)
            if await self._take_one(now):
                return
            session = self._database.session()
            soonest = await session.one(_soonest)
            await session.rollback()
            left = ((soonest or now) - now).total_seconds()
            await asyncio.sleep(min(max(0.05, left), LOOK_AGAIN_SECONDS))  # one may be given back before

    async def _take_one(self, now: datetime) -> bool:
        session = self._database.session()
        try:
            with asking.uses_reserve():
                await session.begin()
            taken = set(await session.all(_taken, now=now))
            known = set(await session.all(_known))
            # Spread over the slots, so that processes that start together seldom want the same one.
            start = uuid.UUID(self._holder).int % SLOTS
            for step in range(SLOTS):
                slot = (start + step) % SLOTS
                if slot in taken:
                    continue
                until = self._latest(now) + LEASE
                if slot in known:
                    won = await session.run(_claim, free=slot, now=now, holder=self._holder, until=until)
                else:
                    won = await session.run(_add_once, slot=slot, holder=self._holder, leased_until=until)
                if won:
                    await session.commit()
                    # Not before the lease, even if the clock is set back: those moments were others'.
                    last_ms = self._counter.last_ms if self._counter else 0
                    self._counter = Counter(slot, not_before=max(_milliseconds(now), last_ms))
                    self._slot, self._until_ms = slot, _milliseconds(until)
                    return True
        finally:
            await session.rollback()
        return False

    def _latest(self, now: datetime) -> datetime:
        """Now, or the moment of the last id where the clock was set back since: the lease must reach beyond both."""
        return now if self._counter is None else max(now, at_of(self._counter.last_ms << 16))

    async def renew(self) -> None:
        until = self._latest(datetime.now(UTC)) + LEASE
        session = self._database.session()
        try:
            with asking.uses_reserve():
                await session.begin()
            held = await session.run(_extend, mine=self._slot, me=self._holder, until=until)
            await session.commit()
        finally:
            await session.rollback()
        if held:
            self._until_ms = _milliseconds(until)
        else:
            await self.lease()

    async def keep(self) -> None:
        """Renewed in time, and at once where a clock that was set forward has made an end of it."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RENEW_SECONDS):
                    await self._has_run_out.wait()
            self._has_run_out.clear()
            try:
                await self.renew()
                self._not_renewed = Unavailable
            except Unavailable as error:
                self._not_renewed = NoSpace if isinstance(error, NoSpace) else Unavailable
                _log.warning("ids.lease_not_renewed", slot=self._slot)
                await asyncio.sleep(TRY_AGAIN_SECONDS)

    async def release(self) -> None:
        """Give the slot back at the moment of the last id, for the next process to take."""
        if self._counter is None:
            return
        until = at_of(self._counter.last_ms << 16) + _MILLISECOND
        self._counter, session = None, self._database.session()
        try:
            await session.run(_extend, mine=self._slot, me=self._holder, until=until)
            await session.commit()
        except NoSpace:
            _log.warning("ids.slot_not_released", slot=self._slot)  # its lease runs out
        finally:
            await session.rollback()
