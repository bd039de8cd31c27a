"""The worker: takes jobs in batches, does them, and forgets nothing.

One lane runs the quick kinds together, another those that strangers set off; every kind that talks to the outside
world has a lane of its own, so that a slow server far away never holds up anything else.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
import traceback
import uuid
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import structlog
from structlog.contextvars import bound_contextvars

from kith.base import asking, traces
from kith.base.counted_log import log_counted
from kith.base.errors import NoSpace, Unavailable, is_no_room
from kith.base.jobs import store
from kith.base.jobs.kinds import QUICK, Give, JobKind, Periodic
from kith.base.jobs.suspects import Suspects
from kith.base.jobs.tables import DEAD, Claimed, TakenOver
from kith.base.jobs.turns import LaneTurns
from kith.base.metrics import JOBS_DONE, JOBS_SECONDS
from kith.base.news import ANY
from kith.base.places import is_full
from kith.base.sealing import Sealer
from kith.base.work import Origin, Work, Works

LEASE = timedelta(seconds=15)
BEAT_SECONDS = 5.0
IDLE_SECONDS = 1.0
GRACE_SECONDS = 10.0
NO_ROOM_PAUSE = timedelta(seconds=30)
SHORTEST_WHEN_FULL, LONGEST_WHEN_FULL = timedelta(seconds=2), timedelta(minutes=5)
FULL_FOR_AT_MOST = timedelta(days=1)  # then it counts as a failure like any other
BATCH = 50
STRETCH_SECONDS = 0.05  # after which no further job is begun in the same transaction

_log = structlog.get_logger()


def backoff(attempt: int) -> timedelta:
    """Half a minute, then ever longer, up to a day; spread out so that a crowd does not come back at once."""
    seconds = min(86_400.0, 15.0 * 2**attempt)
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311 - spread, not secrecy


def together_in(kinds: Sequence[JobKind[Any]]) -> dict[str, None]:
    """The lanes whose jobs are done many at once."""
    return dict.fromkeys([QUICK, *(kind.lane for kind in kinds if not kind.outside)])


def lanes_of(kinds: Sequence[JobKind[Any]]) -> list[str]:
    return [*together_in(kinds), *(kind.lane for kind in kinds if kind.outside)]


class Worker:
    """`run` until told to `stop`; stopping finishes what is running and gives back what is not."""

    def __init__(
        self,
        works: Works,
        kinds: Sequence[JobKind[Any]],
        periodic: Sequence[Periodic] = (),
        *,
        batch: int = BATCH,
        alone: bool = False,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self.id = str(uuid.uuid4())
        self._works = works
        self._kinds = {kind.name: kind for kind in kinds}
        self._periodic = periodic
        self._batch = batch
        self._alone = alone
        self._grace = grace
        self._stopping = asyncio.Event()
        self._held: set[int] = set()
        self._lost: set[int] = set()  # their end could not be written; they go back when something can be again
        self._is_cut_off = False  # from the database
        self._wakes: dict[str, asyncio.Event] = {}
        self._together_in = together_in(kinds)
        self._due = store.DueLanes(lanes_of(kinds))
        self._suspects = Suspects(self._held, self._claim_suspect, self._alone_one)

    async def run(self) -> None:
        with asking.uses_reserve():  # a server that cannot start its worker ends
            await self._start()
        lanes = [self._quick_lane(lane, self._wake(lane)) for lane in self._together_in]
        lanes += [self._outside_lane(kind, self._wake(kind.lane)) for kind in self._kinds.values() if kind.outside]
        chores = [
            asyncio.create_task(chore) for chore in (self._heartbeat(), self._hear(), self._look(), self._clock())
        ]
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._suspects.run(self._stopping, self._grace))
                for lane in lanes:
                    group.create_task(lane)
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            await self._leave()

    def stop(self) -> None:
        self._stopping.set()
        self._suspects.look()
        for wake in self._wakes.values():
            wake.set()

    async def do_all_due(self) -> None:
        """Everything that is due, and what follows from it, without `run`: for whoever is alone with the database."""
        self._suspects.let_wait()
        while lanes := await self._due.find(self._works.open().db, self._works.clock()):
            for lane in lanes:
                taken = await self._claim(lane, partial(self._take_due, lane))
                if lane in self._together_in:
                    await self._together(taken)
                else:
                    await asyncio.gather(*map(self._alone_one, taken))

    # Starting, staying and leaving

    async def _start(self) -> None:
        async with self._works.begin() as work:
            await store.beat(work.db, self.id, f"{socket.gethostname()}:{os.getpid()}", work.now)
            taken = await self._take_over(work, everything=self._alone)
            await self._set_right(work)
            await store.bury_unknown(work.db, self._due.lanes, work.now)
            for periodic in self._periodic:
                await store.plan(work.db, periodic.kind.name, work.now)
        _tell(taken)

    async def _leave(self) -> None:
        try:
            async with self._works.begin() as work:
                if self._held or self._lost:
                    await store.give_back(work.db, [*self._held, *self._lost], self.id)
                await store.leave(work.db, self.id, forget_before=work.now - timedelta(hours=1))
        except NoSpace:
            _log.warning("jobs.left_without_a_word")  # as when the power fails

    async def _heartbeat(self) -> None:
        seen_at = datetime.now(UTC)
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                seen_at = await self._beat(seen_at)
            except Unavailable:
                _log.warning("jobs.heartbeat_missed")

    async def _beat(self, before: datetime) -> datetime:
        """Whoever was late (the database was away, the machine slept) leaves the others time to say they live."""
        async with self._works.begin() as work:
            await store.beat(work.db, self.id, f"{socket.gethostname()}:{os.getpid()}", work.now)
            lost = list(self._lost)
            if lost:
                await store.give_back(work.db, lost, self.id)
            if self._held:
                await store.hold(work.db, list(self._held), self.id, work.now + LEASE)
            is_late = work.now - before > LEASE
            taken = [] if is_late else await self._take_over(work)
            if await store.next_suspect(work.db) is not None:
                self._suspects.look()
        self._lost.difference_update(lost)
        _tell(taken)
        return work.now

    async def _take_over(self, work: Work, *, everything: bool = False) -> list[TakenOver]:
        """Jobs of workers that died; those that cannot have been the cause are as they were before."""
        taken = await store.take_over(work.db, work.now, everything=everything)
        harmless = {name for name, kind in self._kinds.items() if kind.is_harmless}
        blamed = [job for job in taken if job.kind not in harmless]
        if len(blamed) < len(taken):
            await store.absolve(work.db, [job.id for job in taken if job.kind in harmless])
        return blamed

    async def _hear(self) -> None:
        while True:
            await self._works.news.jobs_came.wait()
            self._ring(self._works.news.called())

    def _ring(self, lanes: Collection[str]) -> None:
        for lane, wake in self._wakes.items():
            if lane in lanes or ANY in lanes:
                wake.set()

    def _wake(self, lane: str) -> asyncio.Event:
        return self._wakes.setdefault(lane, asyncio.Event())

    async def _look(self) -> None:
        """Wake the lanes in which a job has come due: one question for all of them, since most are empty."""
        looked_at = self._works.clock()
        while True:
            await asyncio.sleep(IDLE_SECONDS)
            try:
                now = self._works.clock()
                if now < looked_at:  # the clock was set back
                    async with self._works.begin() as work:
                        await self._set_right(work)
                looked_at = now
                self._ring(await self._due.find(self._works.open().db, now))
            except Unavailable:
                _log.warning("jobs.look_missed")

    async def _set_right(self, work: Work) -> None:
        await store.set_right(work.db, work.now, by_own_clock=self._works.database.dialect == "sqlite")

    async def _clock(self) -> None:
        """Make the periodic jobs that are due; the row that is moved on decides which worker does."""
        every = {periodic.kind.name: periodic.every for periodic in self._periodic}
        while self._periodic:
            try:
                due = await store.due(self._works.open().db, self._works.clock(), every)
                for periodic in (one for one in self._periodic if one.kind.name in due):
                    async with self._works.begin() as work:
                        if await store.tick(work.db, periodic.kind.name, now=work.now, every=periodic.every):
                            work.enqueue(periodic.kind, periodic.payload, key="periodic")
            except Unavailable:
                _log.warning("jobs.clock_missed")
            await asyncio.sleep(IDLE_SECONDS)

    # Lanes

    async def _quick_lane(self, lane: str, wake: asyncio.Event) -> None:
        while not self._stopping.is_set():
            taken = await self._claim(lane, partial(self._take_due, lane))
            if taken:
                await self._together(taken)
            else:
                await self._rest(wake)

    async def _outside_lane(self, kind: JobKind[Any], wake: asyncio.Event) -> None:
        running: dict[asyncio.Task[None], tuple[float, str]] = {}  # since when, and on whose behalf
        turns = LaneTurns(kind.places_each)
        try:
            while not self._stopping.is_set():
                now = time.monotonic()
                free = kind.free_places([now - since for since, _ in running.values()])
                owners = Counter(owner for _, owner in running.values())
                take = partial(self._take_in_turn, kind.lane, turns, free, owners)
                taken = await self._claim(kind.lane, take) if free > 0 else []
                for job in taken:
                    task = asyncio.create_task(self._alone_one(job))
                    running[task] = time.monotonic(), job.owner
                    task.add_done_callback(running.pop)
                    task.add_done_callback(lambda _: wake.set())
                if len(taken) < max(free, 1):
                    await self._rest(wake)
        finally:
            await self._drain(set(running))

    async def _drain(self, running: set[asyncio.Task[None]]) -> None:
        """Let what is under way finish; what takes too long is cut, rolled back and given back."""
        if running:
            await asyncio.wait(running, timeout=self._grace)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _rest(self, wake: asyncio.Event) -> None:
        """Sleep until there is news, or a job comes due."""
        await wake.wait()
        wake.clear()

    async def _claim(self, lane: str, take: Callable[[Work], Awaitable[list[Claimed]]]) -> list[Claimed]:
        """Looks before it takes: lanes are mostly empty, or full of what is put off."""
        try:
            async with self._suspects.others(), self._works.begin() as work:
                due = None if self._stopping.is_set() else await store.next_due(work.db, lane)
                self._is_cut_off = False
                taken = [] if due is None or due > work.now else await take(work)
        except Unavailable:
            if not self._is_cut_off:  # once, not for every lane and second
                self._is_cut_off = True
                _log.warning("jobs.claim_failed", lane=lane)
            await asyncio.sleep(IDLE_SECONDS)
            return []
        self._held.update(job.id for job in taken)
        return taken

    async def _take_due(self, lane: str, work: Work) -> list[Claimed]:
        until = work.now + LEASE
        return await store.claim(work.db, lane, most=self._batch, worker=self.id, now=work.now, until=until)

    async def _take_in_turn(
        self, lane: str, turns: LaneTurns, free: int, running: Counter[str], work: Work
    ) -> list[Claimed]:
        """What somebody is given and has no job for goes to those who have more. `running`: how many each owner has."""
        taken: list[Claimed] = []
        waiting, until = await store.waiting(work.db, lane, work.now), work.now + LEASE
        while shares := turns.share(free - len(taken), waiting, running):
            for owner, most in shares.items():
                found = await store.claim_of(work.db, lane, owner, most=most, worker=self.id, now=work.now, until=until)
                taken += found
                running[owner] += len(found)
                if len(found) < most:
                    del waiting[owner]
        return taken

    async def _claim_suspect(self) -> Claimed | None:
        try:
            async with self._works.begin() as work:
                due = await store.next_suspect(work.db)
                if due is None or due > work.now:
                    return None
                job = await store.claim_suspect(work.db, worker=self.id, now=work.now, until=work.now + LEASE)
        except Unavailable:
            return None
        if job is not None:
            self._held.add(job.id)
        return job

    # Doing

    async def _together(self, taken: list[Claimed]) -> None:
        """A batch in one transaction, or in several where it takes long: whoever writes waits for each of them."""
        left = deque(self._in_turn(taken))
        while left:
            done = await self._stretch(left)
            self._held.difference_update(job.id for job in done)

    async def _stretch(self, left: deque[list[Claimed]]) -> list[Claimed]:
        """As many as can be done in a moment, taken from `left`; if one fails, these are done again one by one."""
        done: list[Claimed] = []
        try:
            async with self._works.begin() as work:
                until = time.monotonic() + STRETCH_SECONDS
                while left and (not done or time.monotonic() < until):
                    jobs = left.popleft()
                    done += jobs
                    await self._do(work, jobs)
                await self._finish(work, done)
        except (Exception, asyncio.CancelledError):  # noqa: BLE001 - each gets its own turn and its own verdict
            _go_if_cancelled()
            for job in done:
                await self._one(job)
        return done

    def _in_turn(self, taken: list[Claimed]) -> Iterable[list[Claimed]]:
        """The jobs of a kind that is done jointly stand where the first of them stood, all others where they were."""
        turns: dict[str | int, list[Claimed]] = {}
        for job in taken:
            kind = self._kinds.get(job.kind)
            turns.setdefault(job.kind if kind is not None and kind.is_joint else job.id, []).append(job)
        return turns.values()

    async def _alone_one(self, job: Claimed) -> None:
        await self._one(job)
        self._held.discard(job.id)

    async def _one(self, job: Claimed) -> None:
        try:
            async with self._works.begin() as work:
                await self._do(work, [job])
                await self._finish(work, [job])
        except _TakenOverError:
            _log.warning("jobs.lost_to_another", job=job.id, kind=job.kind)
        except asyncio.CancelledError:
            _go_if_cancelled()
            await self._failed(job, RuntimeError("something that the job waited for was cancelled"))
        except Exception as error:  # noqa: BLE001 - a failed job is a row with a reason, never a dead worker
            await self._failed(job, error)

    async def _do(self, work: Work, jobs: Sequence[Claimed]) -> None:
        """Jobs of one kind."""
        name = jobs[0].kind
        kind = self._kinds.get(name)
        if kind is None:
            raise Give(f"no such kind of job: {name}", later=timedelta(minutes=10))
        if any(job.attempts > kind.attempts for job in jobs):
            raise Give.up("it never came to an end: the worker died each time")
        payloads = [self._payload(kind, job) for job in jobs]
        requests = sorted({job.request for job in jobs if job.request})
        # What they log and what they ask for in turn belongs to the request that led to them.
        work.come_from(Origin(request_id=traces.request_of(requests[0]) if len(requests) == 1 else ""))
        told = bound_contextvars(kind=name, **_consequence_of(requests))
        owners = {job.owner for job in jobs}
        owner = owners.pop() if len(owners) == 1 else ""
        with told, asking.run_job(name, owner), JOBS_SECONDS.labels(name).time():
            async with asyncio.timeout(kind.patience.total_seconds()):
                with traces.job(name, requests, len(jobs)):
                    await kind.do(work, payloads)

    async def _finish(self, work: Work, taken: list[Claimed]) -> None:
        """The end of a job belongs to the transaction of its effect: whoever lost the job loses the effect."""
        if await store.finish(work.db, [job.id for job in taken], self.id) != len(taken):
            raise _TakenOverError
        for kind, count in Counter(job.kind for job in taken).items():
            JOBS_DONE.labels(kind, "done").inc(count)

    async def _failed(self, job: Claimed, error: Exception) -> None:
        kind = self._kinds.get(job.kind)
        why = _storable(_told(error)[-4000:])
        if isinstance(error, NoSpace) or is_no_room(error):
            log_counted("warning", "jobs.no_space", job=job.id, kind=job.kind)
            await self._wait_for_room(job, why, NO_ROOM_PAUSE)
            return
        age = self._works.clock() - job.created_at
        if is_full(error) and age < FULL_FOR_AT_MOST:
            JOBS_DONE.labels(job.kind, "full").inc()
            await self._wait_for_room(job, why, _pause_when_full(age))
            return
        parts = kind.parts if kind is not None and not isinstance(error, (Unavailable, msgspec.DecodeError)) else ()
        parts = parts if all(self._can_read(part, job) for part in parts) else ()
        dead = not parts and self._is_last(job, kind, error)
        JOBS_DONE.labels(job.kind, "dead" if dead else "failed").inc()
        log_counted(
            "warning",
            "jobs.failed",
            job.kind,
            type(error).__name__,
            "dead" if dead else "",
            job=job.id,
            kind=job.kind,
            attempt=job.attempts,
            dead=dead,
            cause=why.strip().rpartition("\n")[2][:500],
            **_consequence_of([job.request] if job.request else []),
        )
        wait = error.later if isinstance(error, Give) and error.later else backoff(job.attempts)
        try:
            async with self._works.begin() as work:
                if parts:
                    await self._take_apart(work, job, parts)
                elif dead:
                    await store.bury(work.db, job.id, self.id, now=work.now, why=why)
                else:
                    await store.put_off(work.db, job.id, self.id, at=work.now + wait, why=why)
        except Unavailable:
            self._lose(job)

    def _is_last(self, job: Claimed, kind: JobKind[Any] | None, error: Exception) -> bool:
        if kind is None:  # it may be of another version, while servers are upgraded one after the other
            return self._works.clock() - job.created_at > store.UNKNOWN_FOR
        return (isinstance(error, Give) and error.later is None) or job.attempts >= kind.attempts

    async def _wait_for_room(self, job: Claimed, why: str, pause: timedelta) -> None:
        """A full disk is nobody's fault, and neither are places that are all taken: the attempt does not count."""
        try:
            async with self._works.begin() as work:
                await store.wait(work.db, job.id, self.id, at=work.now + pause, why=why)
        except Unavailable:
            self._lose(job)

    def _lose(self, job: Claimed) -> None:
        """Nothing can be written, so nobody can take it over either; `_beat` gives it back."""
        _log.warning("jobs.verdict_lost", job=job.id)
        self._lost.add(job.id)

    async def _take_apart(self, work: Work, job: Claimed, parts: Sequence[JobKind[Any]]) -> None:
        """Each part is a job of its own from now on: one that fails must not keep the others from being done."""
        if await store.finish(work.db, [job.id], self.id):
            for part in parts:
                work.enqueue(part, self._payload(part, job), owner=job.owner)

    def _payload(self, kind: JobKind[Any], job: Claimed) -> Any:
        return store.read_payload(kind, job, lambda: self._works.services[Sealer])

    def _can_read(self, kind: JobKind[Any], job: Claimed) -> bool:
        try:
            self._payload(kind, job)
        except msgspec.DecodeError:
            return False
        return True


def _pause_when_full(age: timedelta) -> timedelta:
    """The longer a job has waited for a place, the more wait with it: it looks again ever more seldom."""
    pause = min(max(age / 4, SHORTEST_WHEN_FULL), LONGEST_WHEN_FULL)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311 - spread, not secrecy


def _go_if_cancelled() -> None:
    """A cancellation is meant for us only if somebody has asked for it; a job can bring one of its own."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _consequence_of(requests: list[str]) -> dict[str, Any]:
    """For the log: the request that led to a job, or some of those that led to jobs that are done at once."""
    if len(requests) == 1:
        return {"request": traces.request_of(requests[0])}
    return {"requests": [traces.request_of(one) for one in requests[:10]]} if requests else {}


def _told(error: Exception) -> str:
    """Where it happened and what it says; not all of what is endless."""
    whole = traceback.TracebackException.from_exception(error, limit=-20, max_group_width=5)
    return "".join(whole.format())


def _storable(words: str) -> str:
    """An error may quote anything; a database takes no zero character and no half of a surrogate pair."""
    return words.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def _tell(taken: list[TakenOver]) -> None:
    if taken:
        _log.warning("jobs.taken_over", count=len(taken))
    for job in taken:
        if job.state == DEAD:
            JOBS_DONE.labels(job.kind, "dead").inc()
            _log.error("jobs.deadly", job=job.id, kind=job.kind, cause=store.DEADLY)


class _TakenOverError(Exception):
    pass
