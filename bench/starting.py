"""Starting: from the command to the first request that finds everything ready."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from bench.report import Result, Target, result
from bench.stage import ENGINES, baseline, until_200
from tests.town import Town, build_town

TARGET = Target(most=2.5)


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    """The first start of each is not counted: it fills the caches."""
    took: dict[str, list[float]] = defaultdict(list)
    engines = ENGINES[:1] if quick else ENGINES
    async with AsyncExitStack() as stack:
        starts: dict[str, Callable[[], Awaitable[float]]] = {"bare": _start_bare}
        for engine in engines:
            town = await stack.enter_async_context(build_town(engine, folder / f"start-{engine}", start=False))
            starts[engine] = _starter(town)
        for number in range(3 if quick else 6):
            for name, start in starts.items():
                seconds = await start()
                if number:
                    took[name].append(seconds)
    base = ("start.bare", took["bare"])
    return [
        result(base[0], took["bare"], "s"),
        *(result(f"start.{engine}", took[engine], "s", baseline=base, target=TARGET) for engine in engines),
    ]


def _starter(town: Town) -> Callable[[], Awaitable[float]]:
    async def start() -> float:
        started_at = time.perf_counter()
        await town.start()
        await until_200(town.http, "/health/ready")
        seconds = time.perf_counter() - started_at
        await town.stop()
        return seconds

    return start


async def _start_bare() -> float:
    started_at = time.perf_counter()
    async with baseline("bench.bare"):
        return time.perf_counter() - started_at
