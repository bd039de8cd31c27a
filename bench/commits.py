"""Group commit: writers that wait together share a flush. Measured with the sharing and without."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from bench.report import Result, result
from kith.base.db.sqlite import SQLite
from kith.base.ids import IDs
from kith.base.jobs import JobKind
from kith.base.news import News
from kith.base.settings import Settings, load
from kith.base.work import Work, Works
from tests.town import build_town

WRITERS = 50


class Row(msgspec.Struct):
    writer: int


async def _ignore(work: Work, payload: Row) -> None:
    """Written down and never done: the row is what is wanted."""


KIND = JobKind(name="bench.row", payload=Row, handler=_ignore)


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    rounds, seconds = (3, 0.4) if quick else (7, 0.8)
    rates: dict[bool, list[float]] = {False: [], True: []}
    async with AsyncExitStack() as stack:
        works = {
            grouped: await stack.enter_async_context(_open(folder / f"commits-{grouped}", grouped=grouped))
            for grouped in rates
        }
        for _ in range(rounds):
            for grouped, found in rates.items():
                found.append(await _commits(works[grouped], seconds))
    alone = ("commits.alone", rates[False])
    return [
        result(alone[0], rates[False], "commits/s"),
        result("commits.grouped", rates[True], "commits/s", baseline=alone),
    ]


@asynccontextmanager
async def _open(folder: Path, *, grouped: bool) -> AsyncIterator[Works]:
    async with build_town("sqlite", folder, start=False):
        settings: Settings = load({"KITH_DATA": str(folder)}, folder)
        database = SQLite(settings.sqlite_path, group_commit=grouped)
        ids = IDs(database)
        await ids.lease()
        renewing = asyncio.create_task(ids.keep())
        try:
            yield Works(settings, database, ids, News())
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await ids.release()
            await database.close()


async def _commits(works: Works, seconds: float) -> float:
    """Each writer commits one row at a time, and starts the next once it is safe."""
    started_at = time.perf_counter()
    until = started_at + seconds
    done = 0

    async def write(writer: int) -> None:
        nonlocal done
        while time.perf_counter() < until:
            async with works.begin() as work:
                work.enqueue(KIND, Row(writer))
            done += 1

    async with asyncio.TaskGroup() as group:
        for writer in range(WRITERS):
            group.create_task(write(writer))
    return done / (time.perf_counter() - started_at)
