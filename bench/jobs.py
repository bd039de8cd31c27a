"""Jobs: how many that do nothing are kept, taken, done and forgotten in a second."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from bench.report import Result, Target, result
from bench.stage import ENGINES, open_house_of
from kith.app import House
from kith.base.jobs import JobKind
from kith.base.jobs.worker import Worker
from kith.base.work import Work
from tests.town import build_town

TARGET = Target(least=10_000)
PER_WORK = 50
COUNTS = {1: 400, 10: 3_000, 50: 10_000}
GIVE_UP_SECONDS = 60.0


class Nothing(msgspec.Struct):
    number: int


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    rates: dict[str, list[float]] = defaultdict(list)
    async with AsyncExitStack() as stack:
        houses = {}
        for engine in ENGINES:
            town = await stack.enter_async_context(build_town(engine, folder / f"jobs-{engine}", start=False))
            houses[engine] = await stack.enter_async_context(open_house_of(town))
        for _ in range(2 if quick else 5):
            for engine, house in houses.items():
                for batch, most in COUNTS.items():
                    count = most // 4 if quick else most
                    enqueued, done = await _enqueue(house, count), await _do(house, count, batch)
                    rates[f"jobs.{engine}.batch-{batch}"].append(done)
                    if batch == max(COUNTS):
                        rates[f"jobs.{engine}.enqueue"].append(enqueued)
    return [
        _row(engine, what, rates) for engine in ENGINES for what in ("enqueue", *(f"batch-{batch}" for batch in COUNTS))
    ]


def _row(engine: str, what: str, rates: dict[str, list[float]]) -> Result:
    base = f"jobs.{engine}.batch-1"
    return result(
        f"jobs.{engine}.{what}",
        rates[f"jobs.{engine}.{what}"],
        "jobs/s",
        baseline=None if what in ("enqueue", "batch-1") else (base, rates[base]),
        target=TARGET if what == "batch-50" else None,
    )


async def _ignore(work: Work, payload: Nothing) -> None:
    """The job that does nothing."""


async def _enqueue(house: House, count: int) -> float:
    kind = JobKind(name="bench.nothing", payload=Nothing, handler=_ignore)
    started_at = time.perf_counter()
    for first in range(0, count, PER_WORK):
        async with house.works.begin() as work:
            for number in range(first, min(first + PER_WORK, count)):
                work.enqueue(kind, Nothing(number))
    return count / (time.perf_counter() - started_at)


async def _do(house: House, count: int, batch: int) -> float:
    """From the worker's start until it has left, with every job done: nothing is left out of the time."""
    done = 0

    async def handler(work: Work, payload: Nothing) -> None:  # noqa: ARG001
        nonlocal done
        done += 1
        if done == count:
            worker.stop()

    kind = JobKind(name="bench.nothing", payload=Nothing, handler=handler)
    worker = Worker(house.works, [kind], batch=batch, alone=house.settings.is_sqlite)
    started_at = time.perf_counter()
    async with asyncio.timeout(GIVE_UP_SECONDS):
        await worker.run()
    return count / (time.perf_counter() - started_at)
