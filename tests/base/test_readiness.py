"""Readiness is what was tried just now: it is lost with the first thing that fails, and comes back with it."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import asyncpg

from tests.conftest import TownBuilder
from tests.town import Town


async def _until_ready(town: Town, *, ready: bool) -> dict[str, object]:
    give_up = time.monotonic() + 60
    while True:
        answer = await town.http.get("/health/ready")
        if (answer.status_code == 200) is ready:
            told: dict[str, object] = answer.json()
            assert (await town.http.get("/health")).status_code == 200
            return told
        assert time.monotonic() < give_up, answer.text
        await asyncio.sleep(0.05)


async def test_alive_is_said_in_a_word_or_in_json(town: Town) -> None:
    word = await town.http.get("/health")
    told = await town.http.get("/health", headers={"Accept": "application/json"})

    assert (word.text, word.headers["content-type"]) == ("OK", "text/plain; charset=utf-8")
    assert told.json() == {"status": "ok"}


async def test_a_balancer_asks_without_the_worker(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")

    whole = await town.http.get("/health/ready")
    without = await town.http.get("/health/ready", params={"without": "worker"})
    unknown = await town.http.get("/health/ready", params={"without": "nothing"})

    assert (whole.status_code, whole.json()["worker"]) == (503, False)
    assert (without.status_code, without.json()["status"], without.json()["worker"]) == (200, "ok", False)
    assert unknown.status_code == 503


async def test_a_database_that_may_only_be_read_is_not_ready(new_town: TownBuilder) -> None:
    town = await new_town()
    await _until_ready(town, ready=True)
    owner = await town.owner()

    await _refuse_writes(town, refuse=True)
    told = await _until_ready(town, ready=False)
    without = await town.http.get("/health/ready", params={"without": "worker,room"})
    written = await town.http.post("/api/v1/apps", json={"client_name": "x", "redirect_uris": "https://x.example"})
    await _refuse_writes(town, refuse=False)

    # A file that may grow no further is a full disk, on which people can still sign in and read: they are not sent away.
    assert (told["database"], told["room"]) == ((True, False) if town.engine == "sqlite" else (False, True))
    assert without.status_code == (200 if town.engine == "sqlite" else 503)
    assert written.status_code == (507 if town.engine == "sqlite" else 503)  # as on a full disk; only read
    await _until_ready(town, ready=True)
    assert (await owner.get("/api/v2/core/users/")).status_code == 200


async def _refuse_writes(town: Town, *, refuse: bool) -> None:
    if town.engine == "postgresql":
        connection = await asyncpg.connect(town.database)
        name = await connection.fetchval("SELECT current_database()")
        await connection.execute("SET default_transaction_read_only = off")
        await connection.execute(
            f"ALTER DATABASE {name} SET default_transaction_read_only = {'on' if refuse else 'off'}"
        )
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
            name,
        )
        await connection.close()
        return
    # Every page of the log beyond what is there now is one too many, as on a disk that is full.
    log = town.folder / "kith.sqlite3-wal"
    limit = log.stat().st_size if refuse else resource.RLIM_INFINITY
    resource.prlimit(town.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    if refuse:
        with closing(sqlite3.connect(town.folder / "kith.sqlite3", isolation_level=None)) as other:
            other.execute("CREATE TABLE filling (x)")
            other.execute("INSERT INTO filling VALUES (zeroblob(100000))")


async def test_a_database_that_another_holds_is_not_ready(new_town: TownBuilder) -> None:
    town = await new_town()
    await _until_ready(town, ready=True)
    if town.engine == "sqlite":
        with closing(sqlite3.connect(town.folder / "kith.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            told = await _until_ready(town, ready=False)
            other.execute("ROLLBACK")
    else:
        connection = await asyncpg.connect(town.database)
        async with connection.transaction():
            await connection.execute("LOCK TABLE base_rate_counts IN ACCESS EXCLUSIVE MODE")
            told = await _until_ready(town, ready=False)
        await connection.close()

    assert told["database"] is False
    await _until_ready(town, ready=True)


async def test_a_place_for_files_that_takes_none_is_not_ready(new_town: TownBuilder) -> None:
    town = await new_town()
    await _until_ready(town, ready=True)
    trial = town.folder / "media" / "health"

    _block(trial)
    told = await _until_ready(town, ready=False)
    trial.unlink()

    assert told["media"] is False
    assert told["database"] is True
    await _until_ready(town, ready=True)


def _block(folder: Path) -> None:
    """A file where a folder must be: rights alone do not stop a server that runs as root."""
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.touch()


async def test_however_often_it_is_asked_it_is_tried_about_once_a_second(new_town: TownBuilder) -> None:
    town = await new_town()
    trial = town.folder / "media" / "health" / "trial"
    started = time.monotonic()

    seen = set()
    for _ in range(30):
        await asyncio.gather(*(town.http.get("/health/ready") for _ in range(10)))
        seen.add(trial.stat().st_ino)

    assert len(seen) <= time.monotonic() - started + 2
