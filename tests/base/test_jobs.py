"""Jobs: every one done once in effect, whatever happens to those who do them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from kith.base.db import Query, query
from kith.base.errors import Unavailable
from kith.base.jobs import Give, JobKind, Periodic, store
from kith.base.jobs.tables import DEAD, READY, RUNNING, Job
from kith.base.jobs.turns import LaneTurns
from kith.base.jobs.worker import STRETCH_SECONDS, Worker, backoff
from kith.base.places import Full
from kith.base.settings import Settings, load
from kith.base.work import Work
from tests.base.foundation import Foundation, at_work, lay_foundation
from tests.base.worker_program import DEADLY, DEADLY_OUTSIDE, EFFECTS, OUTSIDE, WRITE_DOWN, Number, write_down
from tests.town import build_town
from tests.town.nursery import Program, begin
from tests.town.town import Engine

_numbers = query(text("SELECT number FROM test_effects ORDER BY number").columns(), int)


class Note(msgspec.Struct):
    text: str = ""


class Handler:
    """A handler that tells when it starts and goes on when it may."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.may_end = asyncio.Event()
        self._changed = asyncio.Event()
        self.running = 0
        self.peak = 0
        self.done = 0

    async def __call__(self, work: Work, payload: Note) -> None:
        self.running += 1
        self.peak = max(self.peak, self.running)
        self.started.set()
        self._changed.set()
        try:
            await self.may_end.wait()
            self.done += 1
        finally:
            self.running -= 1
            self._changed.set()

    async def until(self, claim: Callable[[Handler], bool]) -> None:
        async with asyncio.timeout(120):
            while not claim(self):
                self._changed.clear()
                await self._changed.wait()


def kind_of(
    handler: Callable[[Work, Note], Awaitable[None]], name: str = "test.note", *, attempts: int = 12
) -> JobKind[Note]:
    return JobKind(name=name, payload=Note, handler=handler, attempts=attempts)


async def enqueue(
    base: Foundation,
    kind: JobKind[Note],
    *notes: str,
    key: str | None = None,
    at: datetime | None = None,
    owner: str | None = None,
) -> None:
    async with base.works.begin() as work:
        for note in notes or ("",):
            work.enqueue(kind, Note(note), key=key, at=at, owner=owner)


async def effects(base: Foundation) -> list[int]:
    return await base.database.session().all(_numbers)


async def make_due(base: Foundation) -> None:
    """As if the time of every waiting job had come."""
    await base.run("UPDATE base_jobs SET run_at = created_at WHERE state = 0")


@contextlib.asynccontextmanager
async def one_round(base: Foundation, *kinds: JobKind[Note]) -> AsyncIterator[None]:
    async with at_work(base.worker(*kinds)):
        yield


async def test_a_failing_job_is_tried_ever_later_and_buried_at_last(base: Foundation) -> None:
    tried = asyncio.Event()

    async def fail(work: Work, payload: Note) -> None:
        tried.set()
        raise ValueError(f"no luck with {payload.text}")

    kind = kind_of(fail, attempts=3)
    await enqueue(base, kind, "this")

    for attempt in (1, 2, 3):
        before = datetime.now(UTC)
        tried.clear()
        async with one_round(base, kind):
            await tried.wait()
        [job] = await base.jobs()
        assert job.attempts == attempt
        assert job.held_by is None
        assert "no luck with this" in (job.error or "")
        if attempt < 3:
            usual = timedelta(seconds=15 * 2**attempt)
            assert job.state == READY
            assert before + usual * 0.75 <= job.run_at <= datetime.now(UTC) + usual * 1.25
            await make_due(base)

    assert job.state == DEAD


def test_the_backoff_ends_at_a_day_and_a_quarter() -> None:
    assert max(backoff(attempt) for attempt in range(1, 60)) <= timedelta(days=1) * 1.25


async def test_a_dead_job_can_be_brought_back_or_thrown_away(base: Foundation) -> None:
    done = asyncio.Event()
    refuse = True

    async def maybe(work: Work, payload: Note) -> None:
        done.set()
        if refuse:
            raise Give.up("never")

    kind = kind_of(maybe)
    await enqueue(base, kind, "one", "two")
    async with one_round(base, kind):
        await done.wait()
    first, second = await base.jobs()
    assert (first.state, second.state) == (DEAD, DEAD)
    assert "never" in (first.error or "")
    assert first.attempts == 1

    refuse = False
    async with base.works.begin() as work:
        assert await store.discard(work.db, second.id) == 1
        assert await store.retry(work.db, None, work.now) == 1
        assert await store.discard(work.db, first.id) == 0
    done.clear()
    async with one_round(base, kind):
        await done.wait()
    assert await base.jobs() == []


async def test_a_handler_may_say_when_to_try_again(base: Foundation) -> None:
    done = asyncio.Event()

    async def later(work: Work, payload: Note) -> None:
        done.set()
        raise Give("they asked us to wait", later=timedelta(hours=5))

    before = datetime.now(UTC)
    kind = kind_of(later)
    await enqueue(base, kind)
    async with one_round(base, kind):
        await done.wait()

    [job] = await base.jobs()
    assert job.state == READY
    assert before + timedelta(hours=5) <= job.run_at <= datetime.now(UTC) + timedelta(hours=5)


async def test_a_full_disk_does_not_count_as_an_attempt(base: Foundation) -> None:
    done = asyncio.Event()

    async def write(work: Work, payload: Note) -> None:
        done.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    kind = kind_of(write, attempts=1)
    await enqueue(base, kind)
    async with one_round(base, kind):
        await done.wait()

    [job] = await base.jobs()
    assert (job.state, job.attempts) == (READY, 0)


async def test_that_no_place_was_free_does_not_count_as_an_attempt(base: Foundation) -> None:
    done = asyncio.Event()

    async def ask(work: Work, payload: Note) -> None:
        done.set()
        raise Unavailable from Full("all are taken")

    kind = kind_of(ask, attempts=1)
    await enqueue(base, kind)
    async with one_round(base, kind):
        await done.wait()

    [job] = await base.jobs()
    assert (job.state, job.attempts) == (READY, 0)
    assert job.run_at > datetime.now(UTC)


async def test_a_batch_that_takes_long_lets_others_write_in_between(base: Foundation) -> None:
    order: list[str] = []
    begun = asyncio.Event()

    async def take_long(work: Work, payload: Note) -> None:
        await work.db.begin()
        begun.set()
        await asyncio.sleep(2 * STRETCH_SECONDS)
        order.append(payload.text)

    async def write() -> None:
        await begun.wait()
        async with base.works.begin() as work:
            await work.db.begin()
            order.append("somebody else")

    kind = kind_of(take_long)
    await enqueue(base, kind, *"123456")
    writing = asyncio.create_task(write())
    async with at_work(Worker(base.works, [kind])):
        async with asyncio.timeout(60):
            while await base.jobs():
                await asyncio.sleep(0.01)
    await writing

    assert sorted(order) == [*"123456", "somebody else"]
    assert order[-1] != "somebody else"


async def test_a_kind_nobody_knows_is_put_off_for_a_worker_that_does(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    known, unknown = kind_of(handler), kind_of(handler, "test.of_tomorrow", attempts=1)
    await enqueue(base, unknown)
    await enqueue(base, known)

    async with one_round(base, known):
        await handler.started.wait()

    [job] = await base.jobs()
    assert (job.kind, job.state) == ("test.of_tomorrow", READY)
    assert "no such kind of job" in (job.error or "")


async def test_a_payload_that_cannot_be_read_is_a_failure_like_any_other(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    await enqueue(base, kind, "bad")
    await base.run("""UPDATE base_jobs SET payload = '{"text": 5}'""")
    await enqueue(base, kind, "good")

    async with one_round(base, kind):
        await handler.started.wait()

    [job] = await base.jobs()
    assert job.attempts == 1
    assert "Expected `str`" in (job.error or "")


async def test_an_error_may_quote_what_no_database_takes(base: Foundation) -> None:
    tried = asyncio.Event()

    async def fail(work: Work, payload: Note) -> None:
        tried.set()
        raise ValueError("zero \0 and half \ud800")

    kind = kind_of(fail)
    await enqueue(base, kind)

    async with one_round(base, kind):
        await tried.wait()

    [job] = await base.jobs()
    assert "zero \\0 and half \\ud800" in (job.error or "")


async def test_a_job_that_waits_under_the_same_key_is_enough(base: Foundation) -> None:
    handler = Handler()
    kind, other = kind_of(handler), kind_of(handler, "test.other")

    async with base.works.begin() as work:
        work.enqueue(kind, Note("first"), key="k")
        work.enqueue(kind, Note("same work"), key="k")
    await enqueue(base, kind, "same key", key="k")
    await enqueue(base, kind, "another key", key="l")
    await enqueue(base, other, "another kind", key="k")
    await enqueue(base, kind, "no key", "no key")

    texts = [msgspec.json.decode(job.payload)["text"] for job in await base.jobs()]
    assert sorted(texts) == ["another key", "another kind", "first", "no key", "no key"]


async def test_what_waits_under_the_same_key_is_due_when_the_first_of_both_is(base: Foundation) -> None:
    """The first may have been asked for by a clock that was a day ahead."""
    kind, now = kind_of(Handler()), datetime.now(UTC)
    tomorrow, soon = now + timedelta(days=1), now + timedelta(minutes=1)

    await enqueue(base, kind, key="k", at=tomorrow)
    await enqueue(base, kind, key="k", at=soon)
    await enqueue(base, kind, key="k", at=tomorrow)

    [job] = await base.jobs()
    assert soon - timedelta(seconds=5) < job.run_at <= soon


async def test_a_job_that_runs_under_the_same_key_is_not_enough(base: Foundation) -> None:
    handler = Handler()
    kind = kind_of(handler)
    await enqueue(base, kind, key="k")

    async with one_round(base, kind):
        await handler.started.wait()
        await enqueue(base, kind, key="k")
        await enqueue(base, kind, key="k")
        assert len(await base.jobs()) == 2
        handler.may_end.set()
        await handler.until(lambda handler: handler.done == 2)

    assert await base.jobs() == []


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_a_waiting_job_does_not_start_before_what_else_asked_for_it_is_committed(base: Foundation) -> None:
    """It would not see it, and nobody would come again to look."""
    kind = kind_of(Handler())
    await enqueue(base, kind, key="k")
    now = datetime.now(UTC)

    async def claim() -> int:
        async with base.works.begin() as work:
            worker = str(uuid.uuid4())
            return len(await store.claim(work.db, kind.lane, most=9, worker=worker, now=work.now, until=work.now))

    writing = base.database.session()
    row = store.row_for(kind, Note(), id=base.ids.new(), at=now, now=now, key="k")
    try:
        await writing.many(store.add, [row])
        assert await claim() == 0
        await writing.commit()
    finally:
        await writing.rollback()
    assert await claim() == 1


async def test_works_that_ask_for_the_same_keys_in_any_order_do_not_clash(base: Foundation) -> None:
    kind = kind_of(Handler())
    keys = [str(n) for n in range(30)]

    async def ask(order: list[str]) -> None:
        async with base.works.begin() as work:
            for key in order:
                work.enqueue(kind, Note(), key=key)

    await asyncio.gather(*(ask(keys if n % 2 else keys[::-1]) for n in range(20)))

    assert len(await base.jobs()) == 30


async def test_a_job_for_later_waits_for_its_time(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    await enqueue(base, kind, "later", at=datetime.now(UTC) + timedelta(hours=1))
    await enqueue(base, kind, "now")

    async with one_round(base, kind):
        await handler.started.wait()
    [job] = await base.jobs()
    assert msgspec.json.decode(job.payload) == {"text": "later"}
    assert job.attempts == 0

    await make_due(base)
    handler.started.clear()
    async with one_round(base, kind):
        await handler.started.wait()
    assert await base.jobs() == []


async def test_what_a_server_asks_for_whose_clock_is_ahead_is_done_at_once(base: Foundation) -> None:
    """PostgreSQL's own clock says when it is due; with SQLite there is one clock, and it is set back."""
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    right = base.works.clock
    base.works.clock = lambda: right() + timedelta(minutes=20)
    await enqueue(base, kind, "now")
    await enqueue(base, kind, "later", at=base.works.clock() + timedelta(hours=1))
    if base.database.dialect == "postgresql":
        assert min(job.run_at for job in await base.jobs()) <= right()

    asked = 0

    def ten_minutes_ahead() -> datetime:
        nonlocal asked
        asked += 1
        return right() + timedelta(minutes=10)

    base.works.clock = ten_minutes_ahead
    async with one_round(base, kind):
        while asked < 3:  # at the start, by what looks for due jobs, and by those who wait for them
            await asyncio.sleep(0.01)
        base.works.clock = right
        await asyncio.wait_for(handler.started.wait(), 60)
    [job] = await base.jobs()
    assert msgspec.json.decode(job.payload) == {"text": "later"}
    assert timedelta(minutes=55) < job.run_at - right() < timedelta(minutes=81)


async def test_a_periodic_job_is_made_once_however_many_workers_there_are(settings: Settings) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    every_hour = Periodic(kind=kind, every=timedelta(hours=1), payload=Note())

    async with contextlib.AsyncExitStack() as stack:
        bases = [await stack.enter_async_context(lay_foundation(settings)) for _ in range(4)]
        async with contextlib.AsyncExitStack() as working:
            for base in bases:
                await working.enter_async_context(at_work(base.worker(kind, periodic=[every_hour])))
            await handler.started.wait()
        assert await bases[0].jobs() == []
    assert handler.done == 1


async def test_of_many_that_see_the_hour_strike_one_acts(settings: Settings) -> None:
    async with contextlib.AsyncExitStack() as stack:
        bases = [await stack.enter_async_context(lay_foundation(settings)) for _ in range(4)]
        async with bases[0].works.begin() as work:
            await store.plan(work.db, "test.hourly", work.now)

        async def tick(base: Foundation) -> bool:
            async with base.works.begin() as work:
                return await store.tick(work.db, "test.hourly", now=work.now, every=timedelta(hours=1))

        struck = await asyncio.gather(*(tick(base) for base in bases * 5))

    assert sum(struck) == 1


async def test_a_slow_outside_kind_stays_in_its_bounds_and_in_its_lane(base: Foundation) -> None:
    # given
    slow, quick = Handler(), Handler()
    quick.may_end.set()
    outside: JobKind[Note] = JobKind(name="test.outside", payload=Note, handler=slow, outside=True, concurrency=3)
    inside = kind_of(quick)
    await enqueue(base, outside, *(str(n) for n in range(12)))

    # when
    async with at_work(base.worker(outside, inside)):
        await slow.until(lambda slow: slow.running == 3)
        await enqueue(base, inside)
        await quick.started.wait()
        held = [job.state for job in await base.jobs() if job.kind == "test.outside"].count(RUNNING)
        slow.may_end.set()
        await slow.until(lambda slow: slow.done == 12)

    # then
    assert held == 3
    assert slow.peak == 3
    assert quick.done == 1
    assert await base.jobs() == []


async def test_a_job_that_runs_for_long_gives_its_place_to_the_next_up_to_a_bound(base: Foundation) -> None:
    slow = Handler()
    kind: JobKind[Note] = JobKind(
        name="test.outside",
        payload=Note,
        handler=slow,
        outside=True,
        concurrency=2,
        long_after=timedelta(milliseconds=1),
        most=7,
    )
    await enqueue(base, kind, *(str(n) for n in range(12)))

    async with at_work(base.worker(kind)):
        await slow.until(lambda slow: slow.running == 7)
        slow.may_end.set()
        await slow.until(lambda slow: slow.done == 12)

    assert slow.peak == 7


def test_places_are_those_of_the_young_within_the_bound() -> None:
    kind = JobKind(name="a", payload=Note, concurrency=4, long_after=timedelta(seconds=2), most=6)
    for running_for, free in (([], 4), ([0, 1, 1.9], 1), ([0, 5, 5], 3), ([5] * 5, 1), ([5] * 6, 0), ([0] * 4, 0)):
        assert kind.free_places(running_for) == free
    assert JobKind(name="a", payload=Note, concurrency=4).free_places([0, 90]) == 2


def in_turns(
    handler: Callable[[Work, Note], Awaitable[None]], *, concurrency: int = 2, most: int = 16
) -> JobKind[Note]:
    return JobKind(
        name="test.outside",
        payload=Note,
        handler=handler,
        outside=True,
        concurrency=concurrency,
        long_after=timedelta(milliseconds=1),
        most=most,
    )


async def test_one_owner_leaves_places_to_others_however_many_jobs_it_has(base: Foundation) -> None:
    slow, done = Handler(), asyncio.Event()

    async def do(work: Work, payload: Note) -> None:
        if payload.text == "quick":
            done.set()
        else:
            await slow(work, payload)

    kind = in_turns(do)
    await enqueue(base, kind, *(str(n) for n in range(40)), owner="slow.example")

    async with at_work(base.worker(kind)):
        await slow.until(lambda slow: slow.running == kind.places_each)
        for owner in ("other.example", "user:1", ""):
            await enqueue(base, kind, "quick", owner=owner)
            async with asyncio.timeout(60):
                await done.wait()
            done.clear()
        assert slow.running == slow.peak == kind.places_each
        slow.may_end.set()
        await slow.until(lambda slow: slow.done == 40)


async def test_whoever_has_one_job_goes_before_the_hundred_of_somebody_else(base: Foundation) -> None:
    done: list[str] = []

    async def do(work: Work, payload: Note) -> None:
        done.append(payload.text)

    kind = in_turns(do, concurrency=1, most=1)
    await enqueue(base, kind, *["many"] * 100, owner="many.example")
    await enqueue(base, kind, "one", owner="one.example")
    await enqueue(base, kind, "other", owner="other.example")

    async with at_work(base.worker(kind)), asyncio.timeout(60):
        while len(done) < 102:
            await asyncio.sleep(0.01)

    assert sorted(done[:3]) == ["many", "one", "other"]


async def test_jobs_that_find_no_place_keep_no_other_job_of_their_owner_waiting(base: Foundation) -> None:
    """They give theirs back, and are tried again after all that is due."""
    done = asyncio.Event()

    async def do(work: Work, payload: Note) -> None:
        if payload.text == "good":
            done.set()
        else:
            raise Full("no place of calls has become free")

    kind = in_turns(do)
    await enqueue(base, kind, *["bad"] * 60, "good", owner="both.example")

    async with at_work(base.worker(kind)), asyncio.timeout(60):
        await done.wait()

    assert [(job.state, job.attempts) for job in await base.jobs()] == [(READY, 0)] * 60


async def test_what_follows_from_a_job_has_its_owner_and_whoever_asked_last_waits(base: Foundation) -> None:
    done = asyncio.Event()
    kind = in_turns(Handler())

    async def ask(work: Work, payload: Note) -> None:
        work.enqueue(kind, Note("follows"), at=work.now + timedelta(hours=1))
        done.set()

    later, asking_one = datetime.now(UTC) + timedelta(hours=1), kind_of(ask, "test.asks")
    await enqueue(base, asking_one, owner="first.example")
    await enqueue(base, kind, "keyed", key="one", at=later, owner="first.example")
    await enqueue(base, kind, "keyed", key="one", at=later, owner="second.example")

    async with at_work(base.worker(asking_one, kind)), asyncio.timeout(60):
        await done.wait()

    owners = {msgspec.json.decode(job.payload)["text"]: job.owner for job in await base.jobs()}
    assert owners == {"follows": "first.example", "keyed": "second.example"}


def test_places_go_to_the_fewest_first_then_to_whoever_was_served_longest_ago() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    turns = LaneTurns(each=3)

    assert turns.share(2, {"a": late, "b": early}, {}) == {"a": 1, "b": 1}
    assert turns.share(1, {"a": early, "c": late}, {"a": 1}) == {"c": 1}
    assert turns.share(1, {"a": late, "c": early}, {}) == {"a": 1}
    assert turns.share(9, {"a": early}, {"a": 1}) == {"a": 2}
    assert turns.share(9, {"a": early, "": late}, {"a": 3}) == {"": 9}
    assert turns.share(9, {}, {}) == {}


async def test_stopping_lets_what_runs_finish(base: Foundation) -> None:
    slow, quick = Handler(), Handler()
    outside: JobKind[Note] = JobKind(name="test.outside", payload=Note, handler=slow, outside=True)
    inside = kind_of(quick)
    await enqueue(base, outside)
    await enqueue(base, inside)
    worker = base.worker(outside, inside)

    async with at_work(worker):
        await slow.started.wait()
        await quick.started.wait()
        worker.stop()
        slow.may_end.set()
        quick.may_end.set()

    assert (slow.done, quick.done) == (1, 1)
    assert await base.jobs() == []


async def test_stopping_cuts_what_takes_too_long_and_gives_it_back(base: Foundation) -> None:
    endless = Handler()
    outside: JobKind[Note] = JobKind(name="test.outside", payload=Note, handler=endless, outside=True)
    await enqueue(base, outside)

    async with at_work(Worker(base.works, [outside], grace=0.01)):
        await endless.started.wait()

    [job] = await base.jobs()
    assert (job.state, job.attempts, job.held_by, job.held_until) == (READY, 0, None, None)


async def test_a_cancelled_worker_gives_back_what_it_held(base: Foundation) -> None:
    endless = Handler()
    kind = kind_of(endless)
    await enqueue(base, kind, "one", "two")
    running = asyncio.create_task(base.worker(kind).run())
    await endless.started.wait()

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert [(job.state, job.attempts, job.held_by) for job in await base.jobs()] == [(READY, 0, None)] * 2


async def test_in_a_batch_only_the_job_that_fails_fails(base: Foundation) -> None:
    # given
    await base.run(EFFECTS)
    tried = asyncio.Event()

    async def all_but_five(work: Work, payload: Number) -> None:
        await write_down(work, payload)
        if payload.number == 5:
            tried.set()
            raise ValueError("not five")

    kind: JobKind[Number] = JobKind(name="test.numbers", payload=Number, handler=all_but_five)
    async with base.works.begin() as work:
        for number in range(10):
            work.enqueue(kind, Number(number))

    # when
    async with at_work(base.worker(kind)):
        await tried.wait()

    # then
    assert await effects(base) == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    [left] = await base.jobs()
    assert (left.payload, left.state, left.attempts) == ('{"number":5}', READY, 1)


async def test_jobs_done_at_once_are_each_done_once(base: Foundation) -> None:
    """Those of a joint kind come together, wherever they stood; if they fail together, each has its turn."""
    # given
    await base.run(EFFECTS)
    given: list[list[int]] = []
    tried = asyncio.Event()

    async def all_but_five(work: Work, payloads: Sequence[Number]) -> None:
        given.append([one.number for one in payloads])
        for one in payloads:
            await write_down(work, one)
        if Number(5) in payloads:
            tried.set()
            raise ValueError("not five")

    kind: JobKind[Number] = JobKind(name="test.numbers", payload=Number, many=all_but_five)

    # when they are done at once
    async with base.works.begin() as work:
        for number in range(3):
            work.enqueue(kind, Number(number), at=work.now - timedelta(seconds=10 - number))
            work.enqueue(WRITE_DOWN, Number(number + 100), at=work.now - timedelta(seconds=10 - number))
    async with at_work(base.worker(kind, WRITE_DOWN)):
        await _until_no_jobs(base)

    # then
    assert given == [[0, 1, 2]]
    assert await effects(base) == [0, 1, 2, 100, 101, 102]

    # when one of them fails
    async with base.works.begin() as work:
        for number in (4, 5, 6):
            work.enqueue(kind, Number(number))
    async with at_work(base.worker(kind)):
        await tried.wait()

    # then
    assert await effects(base) == [0, 1, 2, 4, 6, 100, 101, 102]
    [left] = await base.jobs()
    assert (left.payload, left.state, left.attempts) == ('{"number":5}', READY, 1)


async def test_a_part_that_fails_keeps_no_other_part_from_being_done(base: Foundation) -> None:
    # given
    await base.run(EFFECTS)
    tried = asyncio.Event()

    async def write_all(work: Work, payloads: Sequence[Number]) -> None:
        for one in payloads:
            await write_down(work, one)

    async def fail(work: Work, payload: Number) -> None:
        await write_down(work, Number(-payload.number))
        if payload.number == 2:
            tried.set()
            raise ValueError("not two")

    good: JobKind[Number] = JobKind(name="test.good", payload=Number, many=write_all)
    bad: JobKind[Number] = JobKind(name="test.bad", payload=Number, handler=fail)
    whole: JobKind[Number] = JobKind(name="test.whole", payload=Number, parts=(good, bad, WRITE_DOWN))
    async with base.works.begin() as work:
        for number in (1, 2, 3):
            work.enqueue(whole, Number(number))

    # when
    async with at_work(base.worker(whole, good, bad, WRITE_DOWN)):
        await tried.wait()
        await _until(base, lambda jobs: [job.kind for job in jobs if job.error] == ["test.bad"] and len(jobs) == 1)

    # then
    assert await effects(base) == [-3, -1, 1, 1, 2, 2, 3, 3]
    [left] = await base.jobs()
    assert (left.payload, left.state, left.attempts) == ('{"number":2}', READY, 1)


async def _until_no_jobs(base: Foundation) -> None:
    await _until(base, lambda jobs: not jobs)


async def _until(base: Foundation, claim: Callable[[list[Job]], bool]) -> None:
    async with asyncio.timeout(120):
        while not claim(await base.jobs()):
            await asyncio.sleep(0.01)


async def test_whoever_lost_a_job_loses_its_effect(base: Foundation) -> None:
    """As when a worker was frozen until its lease ran out, and another took over."""
    await base.run(EFFECTS)
    handler, another = Handler(), str(uuid.uuid4())

    async def write_late(work: Work, payload: Note) -> None:
        await handler(work, payload)
        await write_down(work, Number(1))

    kind = kind_of(write_late)
    await enqueue(base, kind)

    async with one_round(base, kind):
        await handler.started.wait()
        await base.run(f"UPDATE base_jobs SET held_by = '{another}'")
        handler.may_end.set()

    assert await effects(base) == []
    [job] = await base.jobs()
    assert (job.state, job.held_by, job.error) == (RUNNING, another, None)


async def test_the_jobs_of_the_dead_are_taken_over(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    await enqueue(base, kind)
    async with base.works.begin() as work:
        long_ago = work.now - timedelta(seconds=1)
        dead = str(uuid.uuid4())
        await store.claim(work.db, kind.lane, most=1, worker=dead, now=work.now, until=long_ago)

    async with one_round(base, kind):
        await handler.started.wait()

    assert handler.done == 1
    assert await base.jobs() == []


async def test_where_no_other_worker_can_live_a_new_one_takes_over_at_once(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    await enqueue(base, kind)
    async with base.works.begin() as work:
        until = work.now + timedelta(hours=1)
        await store.claim(work.db, kind.lane, most=1, worker=str(uuid.uuid4()), now=work.now, until=until)

    async with at_work(Worker(base.works, [kind], alone=True)):
        await handler.started.wait()

    assert handler.done == 1


async def test_a_job_that_kills_its_workers_is_buried_and_not_tried_again(base: Foundation) -> None:
    deadly, harmless = Handler(), Handler()
    harmless.may_end.set()
    kind, other = kind_of(deadly, attempts=2), kind_of(harmless, "test.harmless")
    await enqueue(base, kind)
    await base.run("UPDATE base_jobs SET attempts = 2")
    await enqueue(base, other)

    async with one_round(base, kind, other):
        await harmless.started.wait()

    [job] = await base.jobs()
    assert (job.state, deadly.started.is_set()) == (DEAD, False)
    assert "the worker died each time" in (job.error or "")


@pytest.mark.parametrize("deadly", [DEADLY, DEADLY_OUTSIDE], ids=lambda kind: kind.name)
async def test_a_job_that_took_its_worker_down_twice_is_not_started_again_and_no_other_is_blamed(
    engine: Engine, tmp_path: Path, deadly: JobKind[Number]
) -> None:
    async with (
        build_town(engine, tmp_path / "town", start=False) as town,
        lay_foundation(load(town.environment)) as base,
    ):
        await base.run(EFFECTS)
        async with base.works.begin() as work:
            for number in range(6):
                work.enqueue(OUTSIDE if number % 2 else WRITE_DOWN, Number(number))
            work.enqueue(deadly, Number(0))
            for number in range(6, 12):
                work.enqueue(OUTSIDE if number % 2 else WRITE_DOWN, Number(number))

        def hire() -> Program:
            return begin("tests.base.worker_program", "alone", environment=town.environment)

        # when
        first = await hire().ended()
        after_one = {job.kind: job for job in await base.jobs()}[deadly.name]
        second = await hire().ended()
        third = hire()
        await until(base, _done, lambda count: count >= 12)
        await _until(base, lambda jobs: [(job.kind, job.state) for job in jobs] == [(deadly.name, DEAD)])
        third.terminate()

        # then
        assert [first, second, await third.ended()] == [-signal.SIGKILL, -signal.SIGKILL, 0]
        assert (after_one.state, after_one.attempts, after_one.deaths) == (RUNNING, 1, 0)
        [left] = await base.jobs()
        assert (left.kind, left.attempts, left.deaths) == (deadly.name, 2, 2)
        assert left.error == store.DEADLY
        assert await effects(base) == list(range(12))

        # when staff say so, it has its chances again
        async with base.works.begin() as work:
            await store.retry(work.db, left.id, work.now)
        assert await hire().ended() == -signal.SIGKILL


async def test_a_job_that_fails_by_itself_after_a_death_is_no_suspect_any_more(base: Foundation) -> None:
    tried = asyncio.Event()

    async def fail(work: Work, payload: Note) -> None:
        tried.set()
        raise ValueError("no luck")

    kind = kind_of(fail)
    await enqueue(base, kind)
    await base.run("UPDATE base_jobs SET deaths = 1")

    async with one_round(base, kind):
        await tried.wait()

    [job] = await base.jobs()
    assert (job.state, job.attempts, job.deaths) == (READY, 1, 0)


@pytest.mark.parametrize(("is_harmless", "deaths"), [(True, 0), (False, 1)])
async def test_what_cannot_end_a_process_is_not_suspected_when_one_ends(
    base: Foundation, is_harmless: bool, deaths: int
) -> None:
    done = asyncio.Event()

    async def look(work: Work, _payload: Note) -> None:
        [job] = await base.jobs()
        found.append(job.deaths)
        done.set()

    found: list[int] = []
    kind: JobKind[Note] = JobKind(
        name="test.outside", payload=Note, handler=look, outside=True, is_harmless=is_harmless
    )
    await enqueue(base, kind)
    await base.run("UPDATE base_jobs SET state = 1, held_until = created_at")  # by a worker that is gone

    async with one_round(base, kind):
        await done.wait()

    assert found == [deaths]


async def test_suspects_run_one_at_a_time_and_before_all_others(base: Foundation) -> None:
    suspect, other = Handler(), Handler()
    other.may_end.set()
    outside: JobKind[Note] = JobKind(name="test.outside", payload=Note, handler=suspect, outside=True, concurrency=3)
    inside = kind_of(other)
    await enqueue(base, outside, "one", "two")
    await base.run("UPDATE base_jobs SET deaths = 1")
    await enqueue(base, inside)

    async with at_work(base.worker(outside, inside)):
        await suspect.started.wait()
        states = [job.state for job in await base.jobs()]
        suspect.may_end.set()
        await other.started.wait()

    assert sorted(states) == [READY, READY, RUNNING]
    assert (suspect.peak, suspect.done, other.done) == (1, 2, 1)


async def test_staff_see_how_much_waits_and_since_when(base: Foundation) -> None:
    kind = kind_of(Handler())
    await enqueue(base, kind, "one", "two")
    first, second = await base.jobs()
    await base.run(f"UPDATE base_jobs SET state = 2 WHERE id = {second.id}")

    counts = await store.counts(base.database.session())

    assert counts == [(kind.name, READY, 1, first.run_at), (kind.name, DEAD, 1, None)]


async def test_a_worker_is_heard_of_while_it_lives_and_forgotten_when_it_leaves(base: Foundation) -> None:
    handler = Handler()
    handler.may_end.set()
    kind = kind_of(handler)
    await enqueue(base, kind)
    before = datetime.now(UTC)

    async with one_round(base, kind):
        await handler.started.wait()
        seen = await store.last_beat(base.database.session())
    left = await store.last_beat(base.database.session())

    assert seen is not None
    assert seen >= before
    assert left is None


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_ten_thousand_jobs_are_done_once_though_workers_are_killed(engine: Engine, tmp_path: Path) -> None:
    async with build_town(engine, tmp_path / "town", start=False) as town, contextlib.AsyncExitStack() as stack:
        # given
        base = await stack.enter_async_context(lay_foundation(load(town.environment)))
        await base.run(EFFECTS)
        async with base.works.begin() as work:
            for number in range(10_000):
                work.enqueue(WRITE_DOWN, Number(number))

        def hire() -> Program:
            return begin("tests.base.worker_program", environment=town.environment)

        # when
        workers = [hire() for _ in range(4)]
        await until(base, _done, lambda count: count > 2_000)
        for doomed in workers[:2]:
            doomed.kill()
        workers += [hire() for _ in range(2)]
        await until(base, _left, lambda count: count == 0)
        for survivor in workers[2:]:
            survivor.terminate()
        endings = [await worker.ended() for worker in workers]

        # then
        assert endings == [-signal.SIGKILL, -signal.SIGKILL, 0, 0, 0, 0]
        assert await effects(base) == list(range(10_000))


_done = query(text("SELECT count(*) FROM test_effects").columns(), int)
_left = query(text("SELECT count(*) FROM base_jobs").columns(), int)


async def until(base: Foundation, counted: Query[int], is_enough: Callable[[int], bool]) -> None:
    """Other processes do it, so all we can do is look."""
    async with asyncio.timeout(60):
        while not is_enough(await base.database.session().one(counted) or 0):
            await asyncio.sleep(0.02)
