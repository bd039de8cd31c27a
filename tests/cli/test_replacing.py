"""SIGHUP has a server replaced while people are answered; a process that dies is told of and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from kith.base.metrics import read_socket
from kith.cli.keeper import LONGEST_PAUSE, pause_after
from kith.cli.serve import LEAVE_SECONDS
from tests.town import Town, build_town
from tests.town.plain import PLAIN
from tests.town.town import Engine

SEVERAL: Any = {"processes": "2"}


def _told(town: Town, event: str) -> list[dict[str, Any]]:
    lines = (line for line in town.log().splitlines() if line.startswith("{"))
    return [entry for entry in map(json.loads, lines) if entry["event"] == event]


async def until_told(town: Town, event: str, times: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(120):
        while len(found := _told(town, event)) < times:
            await asyncio.sleep(0.05)
    return found


@asynccontextmanager
async def asking(town: Town) -> AsyncIterator[Counter[object]]:
    """People who ask all the time, on connections that they keep and on new ones; what they met."""
    met: Counter[object] = Counter()
    is_over = asyncio.Event()

    async def ask(*, keeps: bool) -> None:
        async with httpx.AsyncClient(base_url=town.base_url, timeout=60, verify=PLAIN) as http:
            while not is_over.is_set():
                headers = {} if keeps else {"connection": "close"}
                try:
                    met[(await http.get("/api/v2/instance", headers=headers)).status_code] += 1
                except httpx.TransportError as error:
                    met[repr(error)] += 1

    people = [asyncio.create_task(ask(keeps=keeps)) for keeps in (True, True, False, False)]
    yield met
    is_over.set()
    await asyncio.gather(*people)


def _pids(town: Town) -> set[int]:
    """The web processes that `kith serve` keeps."""
    children = Path(f"/proc/{town.pid}/task/{town.pid}/children").read_text("ascii").split()
    return {int(one) for one in children if b"--child" in Path(f"/proc/{one}/cmdline").read_bytes()}


@pytest.mark.parametrize(("engine", "settings", "event"), [
    ("sqlite", {}, "server.stopped"),
    ("postgresql", SEVERAL, "processes.replaced"),
])  # fmt: skip
async def test_nobody_notices_that_a_server_is_replaced(
    engine: Engine, settings: Any, event: str, tmp_path: Path
) -> None:
    async with build_town(engine, tmp_path / "town", **settings) as town:
        pid, before = town.pid, _pids(town)
        async with asking(town) as met:
            os.kill(pid, signal.SIGHUP)
            await until_told(town, event, 1)
            answered = met[200]
            async with asyncio.timeout(120):
                while met[200] < answered + 20:
                    await asyncio.sleep(0.05)
        after = _pids(town)

        assert set(met) == {200}
        assert town.pid == pid
        assert len(after) == len(before)
        assert not after & before
        assert _told(town, "process.died") == []
        assert await town.stop() == 0


async def test_nobody_holds_up_a_replacement_by_being_slow(tmp_path: Path) -> None:
    """One who drips a body, and one who says nothing: what is under way is not waited for by everybody else."""
    async with build_town("sqlite", tmp_path / "town") as town:
        address = urlsplit(town.base_url)
        slow = [await asyncio.open_connection(address.hostname, address.port) for _ in range(2)]
        slow[0][1].write(
            b"POST /api/v1/apps HTTP/1.1\r\nHost: %b\r\nContent-Length: 900000\r\n\r\n" % address.netloc.encode()
        )

        async def drip() -> None:
            with suppress(ConnectionError):
                while True:
                    slow[0][1].write(bytes(2000))
                    await slow[0][1].drain()
                    await asyncio.sleep(0.2)

        dripping = asyncio.create_task(drip())
        os.kill(town.pid, signal.SIGHUP)
        [left] = await until_told(town, "server.leaving", 1)
        [stopped] = await until_told(town, "server.stopped", 1)
        seconds = datetime.fromisoformat(stopped["timestamp"]) - datetime.fromisoformat(left["timestamp"])
        dripping.cancel()
        for _, writer in slow:
            writer.close()

        assert seconds.total_seconds() < 3 * LEAVE_SECONDS + 1
        assert (await town.http.get("/health")).status_code == 200


async def test_a_program_that_cannot_start_replaces_nothing(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town", start=False) as town:
        config = tmp_path / "kith.toml"
        config.write_text('title = "Here"\n')
        town.change(config=str(config))
        await town.start()
        config.write_text("nonsense = 1\n")

        os.kill(town.pid, signal.SIGHUP)
        await until_told(town, "processes.not_replaced", 1)

        assert (await town.http.get("/health")).status_code == 200


@pytest.mark.parametrize("changed", ["processes = 2", 'ldap_bind = "127.0.0.1:1"'])
async def test_what_takes_a_restart_replaces_nothing(tmp_path: Path, changed: str) -> None:
    async with build_town("postgresql", tmp_path / "town", start=False) as town:
        config = tmp_path / "kith.toml"
        config.write_text('title = "Here"\n')
        town.change(config=str(config))
        await town.start()
        config.write_text(f"{changed}\n")

        os.kill(town.pid, signal.SIGHUP)
        await until_told(town, "processes.not_replaced", 1)

        assert (await town.http.get("/health")).status_code == 200
        assert f"takes a restart: KITH_{changed.partition(' ')[0].upper()}" in town.log()


async def test_whoever_is_told_to_stop_while_making_way_stops(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town") as town:
        os.kill(town.pid, signal.SIGHUP)
        for is_tried in (True, False):  # the trial begins, and has ended
            async with asyncio.timeout(60):
                while _has_trial(town) is not is_tried:
                    await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)

        assert await asyncio.wait_for(town.stop(), 20) == 0


def _has_trial(town: Town) -> bool:
    children = Path(f"/proc/{town.pid}/task/{town.pid}/children").read_text("ascii").split()
    return any(b"--try" in Path(f"/proc/{one}/cmdline").read_bytes() for one in children)


async def test_a_process_that_dies_is_told_of_counted_and_started_again(tmp_path: Path) -> None:
    async with build_town("postgresql", tmp_path / "town", **SEVERAL) as town:
        victim = min(_pids(town))
        os.kill(victim, signal.SIGKILL)

        [told] = await until_told(town, "process.died", 1)
        async with asyncio.timeout(60):
            while len(_pids(town)) < 2:
                await asyncio.sleep(0.05)
        numbers = await asyncio.to_thread(read_socket, town.folder / "metrics" / "serve.sock")

        assert (told["pid"], told["how"]) == (victim, "SIGKILL")
        assert numbers is not None
        assert 'kith_process_deaths_total{how="SIGKILL"} 1.0' in numbers
        assert victim not in _pids(town)


def test_pauses_grow_and_are_bounded() -> None:
    assert [pause_after(deaths) for deaths in range(1, 9)] == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE]
    assert pause_after(10_000) == LONGEST_PAUSE
