"""Ids: ever rising, sorted by time, and no two alike, whatever the clocks and the processes do."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from kith.base.db import Database, command, connect, insert_into, query
from kith.base.errors import Unavailable
from kith.base.ids import COUNTER_BITS, LEASE, SLOTS, Counter, IDs, at_of, id_at, id_slots
from kith.base.settings import Settings, load
from tests.town import build_town
from tests.town.town import Engine

NOW_MS = 1_750_000_000_000
slots = st.integers(0, SLOTS - 1)
# Readings of a clock that runs, stands still, jumps ahead and is set back.
clocks = st.lists(st.integers(-5_000, 5_000).map(lambda drift: NOW_MS + drift), min_size=1, max_size=200)


@given(slots, clocks, st.integers(1, 300))
def test_ids_rise_whatever_the_clock_does(slot: int, readings: list[int], each: int) -> None:
    counter = Counter(slot)
    made = [counter.next(now) for now in readings for _ in range(each)]
    assert all(earlier < later for earlier, later in pairwise(made))


@given(slots, clocks)
def test_an_id_is_its_moment_its_slot_and_a_count(slot: int, readings: list[int]) -> None:
    counter, latest = Counter(slot), 0
    for now in readings:
        made = counter.next(now)
        latest = max(latest, now)
        assert made >> 16 == latest
        assert (made >> COUNTER_BITS) & 0xFF == slot
        assert made < 1 << 63


@given(slots, slots, clocks)
def test_two_slots_never_make_the_same_id(one: int, other: int, readings: list[int]) -> None:
    first, second = Counter(one), Counter(other)
    made = {first.next(now) for now in readings} & {second.next(now) for now in readings}
    assert not made or one == other


@given(slots, st.integers(0, 10_000))
def test_a_crowd_in_one_millisecond_borrows_from_the_next(slot: int, count: int) -> None:
    counter = Counter(slot)
    made = [counter.next(NOW_MS) for _ in range(count + 1)]
    assert made[-1] >> 16 == NOW_MS + count // (1 << COUNTER_BITS)
    assert counter.last_ms == made[-1] >> 16


@given(slots, clocks)
def test_nothing_comes_from_before_the_lease(slot: int, readings: list[int]) -> None:
    counter = Counter(slot, not_before=NOW_MS)
    assert all(counter.next(now) > NOW_MS << 16 | slot << COUNTER_BITS for now in readings)


@given(st.datetimes(datetime(1970, 1, 1), datetime(6000, 1, 1), timezones=st.just(UTC)), st.integers(0, 65535))  # noqa: DTZ001
def test_an_id_tells_its_moment_to_the_millisecond(at: datetime, tail: int) -> None:
    whole = at.replace(microsecond=at.microsecond // 1000 * 1000)
    assert at_of(id_at(at, tail)) == whole
    assert id_at(at_of(id_at(at, tail)), tail) == id_at(at, tail)
    assert id_at(at) == id_at(whole) <= id_at(at + timedelta(milliseconds=1))


# Slots in the database

put_slot = command(insert_into(id_slots))
leased_until = query(select(id_slots.c.leased_until), datetime)
taken_slots = query(select(id_slots.c.slot).order_by(id_slots.c.slot), int)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    opened = await connect(settings, connections=8)
    yield opened
    await opened.close()


async def fill_slots(database: Database, until: datetime, *, but: int = 0) -> None:
    session = database.session()
    await session.many(
        put_slot,
        [
            {"slot": slot, "holder": "00000000-0000-4000-8000-000000000000", "leased_until": until}
            for slot in range(SLOTS - but)
        ],
    )
    await session.commit()


async def run_out(database: Database) -> None:
    """As if every lease had run out a second ago."""
    session = database.session()
    past = datetime.now(UTC) - timedelta(seconds=1)
    await session.run(command(id_slots.update().values(leased_until=past)))
    await session.commit()


def slot_of(made: int) -> int:
    return (made >> COUNTER_BITS) & 0xFF


async def test_without_a_lease_there_are_no_ids(database: Database) -> None:
    ids = IDs(database)
    with pytest.raises(Unavailable):
        ids.new()
    await ids.release()


async def test_many_at_once_each_get_a_slot_of_their_own(database: Database) -> None:
    everyone = [IDs(database) for _ in range(60)]
    await asyncio.gather(*(ids.lease() for ids in everyone))
    made = [ids.new() for ids in everyone for _ in range(300)]

    assert len(set(made)) == len(made)
    assert len({slot_of(id) for id in made}) == 60


async def test_when_every_slot_is_taken_the_soonest_is_waited_for(database: Database) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.3)
    await fill_slots(database, datetime.now(UTC) + timedelta(hours=1), but=1)
    session = database.session()
    await session.run(put_slot, slot=255, holder="00000000-0000-4000-8000-000000000000", leased_until=soon)
    await session.commit()

    ids = IDs(database)
    await ids.lease()

    assert slot_of(ids.new()) == 255
    assert at_of(ids.new()) >= soon - timedelta(milliseconds=1)


async def test_a_slot_given_back_is_found_by_whoever_waits(database: Database) -> None:
    await fill_slots(database, datetime.now(UTC) + timedelta(hours=1), but=1)
    first, second = IDs(database), IDs(database)
    await first.lease()
    made = first.new()
    waiting = asyncio.create_task(second.lease())
    for _turn in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()

    await first.release()
    async with asyncio.timeout(120):
        await waiting

    assert slot_of(second.new()) == slot_of(made)


async def test_a_slot_goes_from_hand_to_hand_and_repeats_nothing(database: Database) -> None:
    await fill_slots(database, datetime.now(UTC) + timedelta(hours=1), but=1)
    made: list[int] = []
    for _ in range(20):
        ids = IDs(database)
        await ids.lease()
        made += [ids.new() for _ in range(1_000)]  # more than a millisecond holds: it runs ahead of the clock
        await ids.release()
        with pytest.raises(Unavailable):
            ids.new()

    assert {slot_of(id) for id in made} == {255}
    assert made == sorted(set(made))


async def test_a_lease_that_ran_out_gives_no_ids(database: Database) -> None:
    ids = IDs(database)
    await ids.lease()
    ids._until_ms = id_at(datetime.now(UTC)) >> 16

    with pytest.raises(Unavailable):
        ids.new()

    await ids.renew()
    assert ids.new()


async def test_a_slot_lost_to_another_is_left_to_them(database: Database) -> None:
    await fill_slots(database, datetime.now(UTC) + timedelta(hours=1), but=1)
    first, second = IDs(database), IDs(database)
    await first.lease()
    before = [first.new() for _ in range(1_000)]
    await run_out(database)
    await second.lease()
    theirs = [second.new() for _ in range(1_000)]

    await first.renew()
    after = [first.new() for _ in range(1_000)]
    await first.release()

    assert not set(before) & set(after)
    assert not set(theirs) & (set(after) | set(before))
    assert {slot_of(id) for id in theirs} != {slot_of(id) for id in after}
    assert before[-1] < after[0]


async def test_a_renewed_lease_lasts(database: Database) -> None:
    ids = IDs(database)
    await ids.lease()
    slot = slot_of(ids.new())
    before = datetime.now(UTC)
    await ids.renew()

    until = await database.session().one(
        query(select(id_slots.c.leased_until).where(id_slots.c.slot == slot), datetime)
    )
    assert until is not None
    assert until >= before + LEASE
    assert slot_of(ids.new()) == slot


async def test_a_clock_that_is_set_forward_and_back_stops_nobody(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that has no time server is an hour ahead, and is told so."""
    ahead = timedelta(hours=1)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + ahead

    ids = IDs(database)
    await ids.lease()
    before = ids.new()
    keeping = asyncio.create_task(ids.keep())
    try:
        with monkeypatch.context() as patch:
            patch.setattr("kith.base.ids.datetime", Clock)
            patch.setattr("kith.base.ids.time.time_ns", lambda: int(Clock.now(UTC).timestamp() * 1e9))
            with pytest.raises(Unavailable):
                ids.new()  # another process may have the slot by now
            async with asyncio.timeout(5):
                while not (during := await made_by(ids)):
                    await asyncio.sleep(0.01)
        await ids.renew()
        after = ids.new()
    finally:
        keeping.cancel()

    assert before < during < after
    assert at_of(before) < datetime.now(UTC) < at_of(during)
    session = database.session()
    [until] = await session.all(leased_until)
    assert until > at_of(after)
    await ids.release()


async def made_by(ids: IDs) -> int:
    try:
        return ids.new()
    except Unavailable:
        return 0


async def test_processes_that_start_together_share_no_id(engine: Engine, tmp_path: Path) -> None:
    async with build_town(engine, tmp_path / "town", start=False) as town, contextlib.AsyncExitStack() as stack:
        database = await connect(load(town.environment), connections=1)
        stack.push_async_callback(database.close)
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tests.base.ids_program",
                "3000",
                env=town.environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 20,
            )
            for _ in range(4)
        ]
        for process in processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"leased\n"
        assert len(await database.session().all(taken_slots)) == 4

        made: list[int] = []
        for said, _ in await asyncio.gather(*(process.communicate(b"\n") for process in processes)):
            made += [int(word) for word in said.split()]

        assert len(made) == 12_000
        assert len(set(made)) == 12_000
