from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from tests.town import Town, build_town
from tests.town.nursery import KITH
from tests.town.town import Engine


async def test_a_server_started_from_nothing_says_where_it_is_answers_and_stops(engine: Engine, tmp_path: Path) -> None:
    async with build_town(engine, tmp_path / "town", start=False) as town:
        process = await asyncio.create_subprocess_exec(
            *KITH, "serve", env=town.environment, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        first = await process.stdout.readline()
        answer = await _first_answer(town)

        process.terminate()
        await process.communicate()

    assert first.decode().startswith(f"Kith is running at {town.base_url} ")
    assert answer.status_code == 200
    assert process.returncode == 0


async def _first_answer(town: Town) -> httpx.Response:
    async with asyncio.timeout(120):
        while True:
            try:
                return await town.http.get("/health")
            except httpx.TransportError:
                await asyncio.sleep(0.05)
