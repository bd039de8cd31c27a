"""Databases that were just migrated, or that a server has started on once: made for a whole run, and copied for every town.

The process that collects the tests has them made beside it; whoever needs one before that waits for it.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import delete

from kith.app import open_house
from kith.base.db import command
from kith.base.jobs.tables import jobs
from kith.base.settings import Settings, load
from kith.cli.first_rows import offer_start
from kith.migrations.runner import upgrade
from tests.town import postgres

__all__ = ["Stage", "give_sealing_key", "make", "make_beside", "postgres_template", "sqlite_template"]

Stage = Literal["migrated", "started"]
STAGES: tuple[Stage, ...] = ("started", "migrated")
_FOLDER = "KITH_TEST_TEMPLATES"
_KEY = bytes(range(32))  # opens what is sealed among the rows of a first start
_forget_jobs = command(delete(jobs))


def make_beside(*engines: str) -> None:
    """Have the templates for these made by a process of its own."""
    _folder()
    if "postgresql" in engines:
        postgres.server_url()  # kept while this process lasts
    words = "import sys; from tests.town.templates import make; make(sys.argv[1:])"
    _makers.append(subprocess.Popen([sys.executable, "-c", words, *engines], stdin=subprocess.DEVNULL))
    atexit.register(_end_makers)


_makers: list[subprocess.Popen[bytes]] = []


def _end_makers() -> None:
    """A run that is over may never have needed what is still being made."""
    for one in _makers:
        one.kill()
        one.wait()


def _folder() -> Path:
    """Shared by the processes of a run, and removed with the one that began it."""
    if _FOLDER not in os.environ:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="kith-templates-")
        atexit.register(_remove_folder, os.getpid())
    return Path(os.environ[_FOLDER])


def _remove_folder(owner: int) -> None:
    """Not by a fork that ends sooner."""
    if os.getpid() == owner:
        shutil.rmtree(os.environ[_FOLDER], ignore_errors=True)


async def sqlite_template(stage: Stage) -> Path:
    path = _folder() / f"{stage}.sqlite3"
    with _one_at_a_time("sqlite"):
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=_folder()) as folder:
                await _prepare(load({"KITH_DATA": folder}), stage)
                Path(folder, "kith.sqlite3").rename(path)
    return path


async def postgres_template(stage: Stage) -> str:
    """The name of a database."""
    name = f"kith_{stage}_{_folder().name[-8:].lower()}"
    made = _folder() / name
    with _one_at_a_time("postgresql"):
        if not made.exists():
            with tempfile.TemporaryDirectory(dir=_folder()) as folder:
                await _prepare(
                    load({"KITH_DATA": folder, "KITH_DATABASE": await postgres.create_database(name)}), stage
                )
            made.touch()
    return name


def give_sealing_key(folder: Path) -> None:
    """To the data folder of whoever has a copy of a database that was started."""
    keys = folder / "keys"
    keys.mkdir(mode=0o700)
    (keys / "encryption.key").write_bytes(_KEY)
    (keys / "encryption.key").chmod(0o600)


@contextmanager
def _one_at_a_time(engine: str) -> Iterator[None]:
    with (_folder() / f"{engine}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


async def _prepare(settings: Settings, stage: Stage) -> None:
    """The rows of a first start would take each server most of its own start.

    The jobs that tell others of these rows have nobody to tell.
    """
    await upgrade(settings)
    if stage == "started":
        give_sealing_key(settings.data)
        async with open_house(settings, connections=1) as house, house.works.begin() as work:
            await offer_start(work)
            await work.db.run(_forget_jobs)


def make(engines: list[str]) -> None:
    """Whatever of them is not there yet."""
    asyncio.run(_make(engines))


async def _make(engines: list[str]) -> None:
    for stage in STAGES:
        if "sqlite" in engines:
            await sqlite_template(stage)
        if "postgresql" in engines:
            await postgres_template(stage)
