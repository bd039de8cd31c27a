"""Jobs that cannot be done: whatever they are, and however many, others are done, and they end with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kith.base.jobs import JobKind
from kith.base.jobs.tables import DEAD
from kith.base.work import Work
from tests.base.foundation import Foundation, at_work
from tests.search_size import is_whole_search

COPIES = 1000 if is_whole_search() else 8


class Note(msgspec.Struct):
    text: str = ""


class OtherNote(msgspec.Struct):
    number: int


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("there are no words for it")

    __repr__ = __str__


async def fail(_work: Work, _payload: Note) -> None:
    raise ValueError("no luck")


async def fail_at_length(_work: Work, _payload: Note) -> None:
    raise ValueError("x" * 5_000_000)


async def fail_without_words(_work: Work, _payload: Note) -> None:
    raise UnspeakableError


async def fail_in_a_crowd(_work: Work, _payload: Note) -> None:
    raise ExceptionGroup("many", [ValueError("one")] * 1000)


async def stop_iterating(_work: Work, _payload: Note) -> None:
    raise StopAsyncIteration


async def recur(work: Work, payload: Note) -> None:
    await recur(work, payload)


async def be_cancelled(_work: Work, _payload: Note) -> None:
    """As when something that a job waits for was cancelled by somebody else."""
    raise asyncio.CancelledError


async def wait_for_the_cancelled(_work: Work, _payload: Note) -> None:
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    task.cancel()
    await task


async def hang(_work: Work, _payload: Note) -> None:
    await asyncio.Event().wait()


async def do_nothing(_work: Work, _payload: Note) -> None:
    pass


Handler = Callable[[Work, Note], Awaitable[None]]
HANDLERS: dict[str, Handler] = {
    "fails": fail,
    "fails at length": fail_at_length,
    "fails without words": fail_without_words,
    "fails in a crowd": fail_in_a_crowd,
    "ends an iteration": stop_iterating,
    "calls itself": recur,
    "is cancelled": be_cancelled,
    "waits for the cancelled": wait_for_the_cancelled,
    "hangs": hang,
}
PAYLOADS = {
    "no JSON": "{",
    "nothing": "",
    "another type": '{"text": 5}',
    "no object": "[]",
    "too deep": "[" * 100_000,
    "great": '{"text": 5, "x": "' + "x" * 1_000_000 + '"}',
    "half a letter": '{"text": "\\ud800"}',
}


def _kind(name: str, handler: Handler, *, outside: bool) -> JobKind[Note]:
    patience = timedelta(milliseconds=20) if handler is hang else timedelta(minutes=1)
    return JobKind(name=name, payload=Note, handler=handler, outside=outside, attempts=2, patience=patience)


async def _put(base: Foundation, kind: JobKind[Note], count: int = 1) -> None:
    async with base.works.begin() as work:
        for _ in range(count):
            work.enqueue(kind, Note())


async def _ends(base: Foundation, poison: JobKind[Note], known: list[JobKind[Note]]) -> None:
    """An innocent job behind the others is done, the worker stays, and the others are dead in the end."""
    done = asyncio.Event()

    async def note(_work: Work, _payload: Note) -> None:
        done.set()

    innocent = _kind("test.innocent", note, outside=False)
    await _put(base, innocent)
    worker = base.worker(*known, innocent)
    async with at_work(worker):
        async with asyncio.timeout(120):
            await done.wait()
        async with asyncio.timeout(120):
            while any(job.state != DEAD for job in await base.jobs()):
                await base.run("UPDATE base_jobs SET run_at = created_at WHERE state = 0")
                await base.ids.renew()
                await asyncio.sleep(0.1)
        done.clear()
        await _put(base, innocent)
        async with asyncio.timeout(60):
            await done.wait()
        async with asyncio.timeout(60):
            while any(job.kind == innocent.name or job.held_by is not None for job in await base.jobs()):
                await asyncio.sleep(0.05)
    left = await base.jobs()
    assert {job.kind for job in left} == {poison.name}
    assert {job.state for job in left} == {DEAD}
    assert all(0 < len(job.error or "") <= 10_000 for job in left)


@pytest.mark.parametrize("outside", [False, True], ids=["together", "alone"])
@pytest.mark.parametrize("name", HANDLERS)
async def test_a_crowd_of_jobs_that_cannot_be_done(base: Foundation, name: str, outside: bool) -> None:
    poison = _kind("test.poison", HANDLERS[name], outside=outside)
    await _put(base, poison, 5 if name in ("hangs", "fails at length") else COPIES)

    await _ends(base, poison, [poison])


@pytest.mark.parametrize("name", PAYLOADS)
async def test_a_crowd_of_jobs_that_cannot_be_read(base: Foundation, name: str) -> None:
    handler = fail if name == "half a letter" else do_nothing
    poison = _kind("test.poison", handler, outside=False)
    await _put(base, poison, 5)
    await base.run(f"UPDATE base_jobs SET payload = '{PAYLOADS[name].replace(':', chr(92) + ':')}'")

    await _ends(base, poison, [poison])


async def test_parts_that_read_a_job_otherwise_end_it(base: Foundation) -> None:
    """A kind whose part does not understand what the whole does must not take the worker down."""
    part: JobKind[Any] = JobKind(name="test.part", payload=OtherNote, handler=do_nothing)
    poison: JobKind[Any] = JobKind(name="test.poison", payload=Note, parts=(part,), handler=fail, attempts=2)
    await _put(base, poison, 3)

    await _ends(base, poison, [poison])


@pytest.mark.parametrize("outside", [False, True], ids=["together", "alone"])
async def test_jobs_of_a_kind_that_nobody_knows_any_more_end(base: Foundation, outside: bool) -> None:
    unknown = _kind("test.of_yesterday", do_nothing, outside=outside)
    innocent = _kind("test.innocent", do_nothing, outside=False)
    await _put(base, unknown, 3)
    for age in (timedelta(days=1), timedelta(days=30)):
        await base.run("UPDATE base_jobs SET run_at = created_at WHERE state = 0")
        then = (base.works.clock() - age).isoformat(sep=" ")
        await base.run(f"UPDATE base_jobs SET created_at = '{then.replace(':', chr(92) + ':')}'")
        async with at_work(base.worker(innocent)):
            await asyncio.sleep(0.5)
        states = {job.state for job in await base.jobs()}
        assert (states == {DEAD}) is (age.days == 30)
    assert all("no such kind of job" in (job.error or "") for job in await base.jobs())
