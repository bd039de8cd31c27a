"""The power fails, again and again: what was answered is there, and its effect came once."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from kith.base.jobs.store import DEADLY
from tests.cli.running import kith
from tests.crash.program import TABLES
from tests.modes import sized
from tests.town import Town, build_town
from tests.town.town import Engine

KILLS = sized(10, 60)
CLIENTS = 16


class Doomed:
    """A server that dies at our word, and the clients that never give up on it."""

    def __init__(self, town: Town, zygote: asyncio.subprocess.Process) -> None:
        self.town = town
        self._zygote = zygote
        self._ids = count(1)
        self._dice = random.Random(1848)  # the same story every time
        self.sent: set[int] = set()
        self.answered: set[int] = set()
        self._one_more = asyncio.Event()

    async def live_and_die(self) -> None:
        """One life: some hundred writes at most, and an end in the middle of them."""
        await self._say("start")
        enough = len(self.answered) + self._dice.choice([0, 1, 2, 5, 20, 50, 100, 200])
        async with aiohttp.ClientSession(self.town.base_url) as session:
            clients = [asyncio.create_task(self._write(session)) for _ in range(CLIENTS)]
            while len(self.answered) < enough:
                self._one_more.clear()
                await self._one_more.wait()
            await self._say("kill")
            for client in clients:
                client.cancel()
            for ended in await asyncio.gather(*clients, return_exceptions=True):
                assert isinstance(ended, asyncio.CancelledError), ended

    async def _write(self, session: aiohttp.ClientSession) -> None:
        while True:
            number = next(self._ids)
            self.sent.add(number)
            try:
                async with session.post(f"/writes/{number}") as answer:
                    assert answer.status == 201, await answer.text()
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.05)  # sixteen who knock without end would keep it from opening
            except aiohttp.ClientError:
                pass
            else:
                self.answered.add(number)
                self._one_more.set()

    async def live(self) -> None:
        await self._say("start")

    async def die(self) -> None:
        await self._say("kill")

    async def _say(self, word: str) -> None:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write(f"{word}\n".encode())
        assert await self._zygote.stdout.readline(), self.town.log()

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        if self.town.engine == "sqlite":
            with contextlib.closing(sqlite3.connect(self.town.folder / "kith.sqlite3", timeout=60)) as connection:
                return connection.execute(sql).fetchall()
        connection = await asyncpg.connect(self.town.database)
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    async def until_no_job_is_left(self, of: str = "kind = 'crash.effect'") -> None:
        """Jobs that a dead server held come back when its lease has run out.

        One that was running when the server was killed twice in a row waits, dead, for somebody to say so.
        """
        async with asyncio.timeout(120):
            while await self.rows(f"SELECT id FROM base_jobs WHERE {of} AND state <> 2"):
                await asyncio.sleep(0.1)
            blamed = [error for (error,) in await self.rows(f"SELECT error FROM base_jobs WHERE {of}")]
            assert set(blamed) <= {DEADLY}
            if blamed:
                await kith(self.town, "jobs", "retry", "--all")
                await self.until_no_job_is_left(of)


@asynccontextmanager
async def doomed_server(engine: Engine, folder: Path) -> AsyncIterator[Doomed]:
    async with build_town(engine, folder, start=False, log_level="warning") as town:
        await make_tables(town)
        zygote = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.crash.program",
            env=town.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            yield Doomed(town, zygote)
        finally:
            assert zygote.stdin is not None
            zygote.stdin.close()
            await zygote.wait()


async def make_tables(town: Town) -> None:
    if town.engine == "sqlite":
        with contextlib.closing(sqlite3.connect(town.folder / "kith.sqlite3")) as connection:
            for sql in TABLES:
                connection.execute(sql)
    else:
        connection = await asyncpg.connect(town.database)
        for sql in TABLES:
            await connection.execute(sql)
        await connection.close()


@pytest.fixture
async def doomed(engine: Engine, tmp_path: Path) -> AsyncIterator[Doomed]:
    async with doomed_server(engine, tmp_path / "town") as server:
        yield server


async def test_every_answered_write_and_its_job_survive_kills(doomed: Doomed) -> None:
    # given
    async with asyncio.timeout(600):
        for _ in range(KILLS):
            await doomed.live_and_die()

    # when
    await doomed.live()
    await doomed.until_no_job_is_left()
    await doomed.die()

    # then
    writes = [number for (number,) in await doomed.rows("SELECT id FROM crash_writes")]
    effects = [number for (number,) in await doomed.rows("SELECT write_id FROM crash_effects")]
    assert doomed.answered <= set(writes)
    assert set(writes) <= doomed.sent
    assert sorted(effects) == sorted(writes)
    assert await doomed.rows("SELECT id FROM base_jobs WHERE kind = 'crash.effect'") == []
    if doomed.town.engine == "sqlite":
        assert await doomed.rows("PRAGMA integrity_check") == [("ok",)]
        assert await doomed.rows("PRAGMA foreign_key_check") == []
