"""What a server takes that has started and has nothing to do, as the system counts it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import psutil

from tests.town import Town, build_town
from tests.town.nursery import KITH

# 110 MB is what an idle server takes at most; at its very first start, when all periodic work is due, it takes 3 MB more.
MOST_BYTES = {"first start": 113_000_000, "later start": 110_000_000}
IDLE_SECONDS = 6.0  # in which the worker does what is due at a start


async def test_an_idle_server_takes_less_than_110_mb(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town", start=False) as town:
        taken = {start: await _taken_when_idle(town) for start in MOST_BYTES}

    assert {start: count for start, count in taken.items() if count >= MOST_BYTES[start]} == {}


async def _taken_when_idle(town: Town) -> int:
    process = await asyncio.create_subprocess_exec(
        *KITH, "serve", env=town.environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(120):
            while not await _is_ready(town):
                await asyncio.sleep(0.1)
        await asyncio.sleep(IDLE_SECONDS)
        return int(psutil.Process(process.pid).memory_info().rss)
    finally:
        process.terminate()
        await process.wait()


async def _is_ready(town: Town) -> bool:
    try:
        return (await town.http.get("/health/ready")).status_code == 200
    except httpx.TransportError:
        return False
