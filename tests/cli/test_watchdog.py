"""A server whose event loop stands still says so, and ends where somebody starts it again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from kith.base.settings import Settings
from kith.base.watchdog import EXIT_CODE, Plan, plan_for, system_patience
from tests.town import Town, build_town
from tests.town.nursery import Program, begin


@asynccontextmanager
async def blocking_server(folder: Path, **more: str) -> AsyncIterator[tuple[Town, Program, Path]]:
    async with build_town("sqlite", folder / "town", start=False) as town:
        said = folder / "said.log"
        process = begin(
            "tests.cli.blocking_program",
            "serve",
            environment=town.environment | {"KITH_WATCHDOG_SECONDS": "5", "KITH_LOG_FORMAT": "json"} | more,
            said=said,
        )
        try:
            await _until_it_answers(town)
            yield town, process, said
        finally:
            process.kill()
            await process.ended()


async def _until_it_answers(town: Town) -> None:
    async with asyncio.timeout(120):
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await town.http.get("/health/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.05)


async def test_a_loop_that_stood_still_is_told_of_and_not_ready_for_a_while(tmp_path: Path) -> None:
    async with blocking_server(tmp_path) as (town, process, said):
        await town.http.get("/block/6000", timeout=60)
        ready = await town.http.get("/health/ready")

        assert process.is_running
        assert (ready.status_code, ready.json()["loop"]) == (503, False)
        assert "loop.stands_still" in said.read_text()
        assert "in block" in said.read_text()
        assert "loop.given_up" not in said.read_text()


@pytest.mark.parametrize(
    ("path", "words", "code"),
    [("/block/60000", ["loop.given_up", "in block"], EXIT_CODE), ("/lock", ["Timeout", "in lock"], 1)],
)
async def test_where_it_is_started_again_it_ends_itself(tmp_path: Path, path: str, words: list[str], code: int) -> None:
    async with blocking_server(tmp_path, KITH_WATCHDOG="end") as (town, process, said):
        with pytest.raises(httpx.TransportError):
            await town.http.get(path, timeout=60)

        assert await process.ended(60) == code
        assert [word for word in words if word not in said.read_text()] == []


async def test_systemd_hears_that_it_is_ready_and_that_it_lives(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.setblocking(False)
        words: set[bytes] = set()
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "20000000", "KITH_WATCHDOG_SECONDS": "30"}
        async with blocking_server(tmp_path, **told) as (_town, process, _said):
            loop = asyncio.get_running_loop()
            async with asyncio.timeout(60):
                while words < {b"READY=1", b"WATCHDOG=1"}:
                    words.add(await loop.sock_recv(heard, 100))
                process.terminate()
                while b"STOPPING=1" not in words:
                    words.add(await loop.sock_recv(heard, 100))
            assert await process.ended(60) == 0
    assert words == {b"READY=1", b"WATCHDOG=1", b"STOPPING=1"}


THIS = "this process"  # which is another than the one that collects the tests
SYSTEMD = {"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": THIS}


def _here(environment: dict[str, str]) -> dict[str, str]:
    return {name: str(os.getpid()) if value == THIS else value for name, value in environment.items()}


@pytest.mark.parametrize(
    ("setting", "environment", "is_child", "plan"),
    [
        ("auto", {}, False, Plan(5, None)),
        ("auto", {}, True, Plan(5, 30)),
        ("auto", SYSTEMD, False, Plan(4, 8)),
        ("auto", {"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "1"}, False, Plan(5, None)),
        ("auto", {"WATCHDOG_USEC": "soon"}, False, Plan(5, None)),
        ("auto", {"NOTIFY_SOCKET": "/run/x"}, False, Plan(5, None)),
        ("log", SYSTEMD, True, Plan(4, None)),
        ("end", {}, False, Plan(5, 30)),
        ("off", SYSTEMD, True, None),
    ],
)
def test_who_ends_when(setting: str, environment: dict[str, str], is_child: bool, plan: Plan | None) -> None:
    settings = Settings(watchdog=setting)  # type: ignore[arg-type]

    assert plan_for(settings, _here(environment), is_child=is_child) == plan


def test_systemd_wants_to_hear_from_one_process_only() -> None:
    assert system_patience(_here(SYSTEMD)) == 10.0
    assert system_patience({**SYSTEMD, "WATCHDOG_PID": "1"}) is None
    assert system_patience({"WATCHDOG_USEC": "0"}) is None
