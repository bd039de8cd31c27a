"""The server under soak, with a peer to federate with: their processes, their database, and the roads between them."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kith.base.settings import load
from kith.migrations.runner import upgrade
from soak.places import Disk
from soak.processes import Process
from soak.proxy import Road
from soak.shim import Control, build
from tests.town.ports import ReservedPort
from tests.town.postgres import give_to_owner, program, unprivileged
from tests.town.templates import sqlite_template
from tests.town.town import Engine, Town

__all__ = ["OwnPostgres", "Site", "Stage", "open_stage"]

_OPTIONS = (
    "-c shared_buffers=32MB -c max_connections=120 -c listen_addresses='' -c max_wal_size=256MB -c min_wal_size=64MB "
    "-c log_min_messages=warning"
)
_MEGABYTES = 700
_SITES: tuple[tuple[str, Engine | None], ...] = (("here", None), ("there", "sqlite"))


class OwnPostgres:
    """A PostgreSQL that nobody else uses, durable as it is by default. Its log of writes has a disk of its own, so
    that it lives on when the other is full, as its manual advises."""

    def __init__(self, folder: Path, disk: Disk, control: Control) -> None:
        self._data, self._log = disk.folder / "data", folder / "postgresql.log"
        self._socket, self._wal = folder / "socket", folder / "wal"
        self._control = control
        for place in (self._data, self._socket, self._wal):
            place.mkdir(mode=0o700)
        self._socket.chmod(0o755)
        self._log.touch()
        give_to_owner(self._data, self._socket, self._wal, self._log)
        words = ["initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        self._run([*words, "--locale", "C.UTF-8", "--waldir", str(self._wal / "wal")])

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._socket}"

    def _run(self, words: list[str], *, check: bool = True) -> None:
        options: dict[str, object] = {}
        if os.getuid() == 0:
            owner = unprivileged()
            options = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"} | self._control.environment
        subprocess.run(  # type: ignore[call-overload]
            [program(words[0]), *words[1:]],
            check=check,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd="/",
            env=environment,
            **options,
        )

    async def start(self) -> None:
        words = ["pg_ctl", "-D", str(self._data), "-w", "-t", "60", "-l", str(self._log)]
        await asyncio.to_thread(self._run, [*words, "-o", f"-k {self._socket} {_OPTIONS}", "start"])

    async def stop(self) -> None:
        """At once, as when its machine fails: what was committed comes back from its log."""
        words = ["pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop"]
        await asyncio.to_thread(self._run, words, check=False)


class Site:
    """One server as the world knows it: a public address, and the processes behind it."""

    def __init__(self, name: str, town: Town, disk: Disk) -> None:
        self.name, self.town, self.disk = name, town, disk
        self.processes: list[Process] = []
        self.road: Road | None = None
        self.postgres: OwnPostgres | None = None
        self.log = disk.folder.parent / f"{name}.log"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.town.port}"

    @property
    def servers(self) -> list[Process]:
        return [one for one in self.processes if one.port is not None]


class Stage:
    def __init__(self, here: Site, there: Site, disks: list[Disk], postgres_control: Control | None) -> None:
        self.here, self.there, self.disks = here, there, disks
        self.postgres_control = postgres_control
        self.can_fill = all(disk.is_small for disk in disks)
        self.can_bend = bool(here.processes[0].control.environment)

    @property
    def sites(self) -> tuple[Site, Site]:
        return self.here, self.there

    @property
    def processes(self) -> list[Process]:
        return [one for site in self.sites for one in site.processes]

    def road(self, site: Site) -> Road:
        assert site.road is not None
        return site.road


class Builder:
    """Makes the two sites, and takes down whatever of them there is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library = build(folder)
        self._ports: list[ReservedPort] = []
        self.disks: list[Disk] = []
        self.sites: list[Site] = []
        self.postgres_control: Control | None = None

    async def add(self, name: str, engine: Engine) -> None:
        disk = self._disk(name)
        site = Site(name, Town(engine, disk.folder, "sqlite"), disk)
        self.sites.append(site)
        site.town.change(
            private_hosts="127.0.0.0/8",
            breach_url="http://127.0.0.1:1/",
            registrations="open",
            confirm_email="on",
            log_level="warning",
        )
        if engine == "sqlite":
            shutil.copy(await sqlite_template("migrated"), disk.folder / "kith.sqlite3")
        else:
            self.postgres_control = Control(self._library, self._folder / "postgresql.control")
            site.postgres = OwnPostgres(self._folder, self._disk("database"), self.postgres_control)
            await site.postgres.start()
            site.town.database = site.postgres.url
            await upgrade(load(site.town.environment))
        for number, word in enumerate(["serve"] * 3 + ["work"] * 2 if site.postgres else ["serve"]):
            site.processes.append(self._process(site, number, word))
        site.road = Road(site.town.port, [one.port for one in site.servers if one.port is not None])
        await site.road.open()

    def _disk(self, name: str) -> Disk:
        made = Disk(self._folder / name, _MEGABYTES)
        self.disks.append(made)
        return made

    def _process(self, site: Site, number: int, word: str) -> Process:
        port, metrics = ReservedPort(), ReservedPort()
        self._ports += (port, metrics)
        environment = site.town.environment | {"KITH_BIND": f"127.0.0.1:{port.number}"}
        if site.postgres is not None:
            environment["KITH_WORKER"] = "off" if word == "serve" else "on"
        name = f"{site.name}-{word}-{number}"
        control = Control(self._library, self._folder / f"{name}.control")
        return Process(name, word, environment, site.log, control, metrics)

    async def close(self) -> None:
        for site in self.sites:
            await asyncio.gather(*(process.stop() for process in site.processes))
            if site.road is not None:
                await site.road.close()
            await site.town.close()
            if site.postgres is not None:
                await site.postgres.stop()
        for port in self._ports:
            port.release()
        for disk in self.disks:
            disk.close()


@asynccontextmanager
async def open_stage(engine: Engine, folder: Path) -> AsyncIterator[Stage]:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    builder = Builder(folder)
    try:
        for name, kind in _SITES:
            await builder.add(name, kind or engine)
        for site in builder.sites:
            site.processes[0].start()
        for site in builder.sites:
            for process in site.processes:
                if not process.is_running:
                    process.start()
                await process.until_it_answers()
        here, there = builder.sites
        yield Stage(here, there, [one for one in builder.disks if one is not there.disk], builder.postgres_control)
    finally:
        await builder.close()
