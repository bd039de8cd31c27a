"""A PostgreSQL of one's own with a standby that follows it, for tests of read replicas."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.town.postgres import as_owner, give_to_owner, program

__all__ = ["Pair", "primary_and_standby"]

_CHEAP = "-c fsync=off -c full_page_writes=off -c shared_buffers=16MB -c max_connections=60 -c listen_addresses=''"


class Pair(NamedTuple):
    primary: str
    standby: str
    standby_data: Path

    def pause(self) -> None:
        """The standby goes on answering, and hears nothing new."""
        self._say("SELECT pg_wal_replay_pause()")

    def go_on(self) -> None:
        self._say("SELECT pg_wal_replay_resume()")

    def _say(self, words: str) -> None:
        subprocess.run([program("psql"), "-q", "-c", words, self.standby], check=True, stdout=subprocess.DEVNULL)

    def stop_standby(self) -> None:
        as_owner([program("pg_ctl"), "-D", str(self.standby_data), "-m", "immediate", "stop"])


@contextmanager
def primary_and_standby() -> Iterator[Pair]:
    folder = Path(tempfile.mkdtemp(prefix="kith-pair-"))
    folder.chmod(0o755)
    places = [folder / "primary", folder / "standby"]
    for place in places:
        place.mkdir(mode=0o700)
        (folder / f"{place.name}-socket").mkdir(mode=0o755)
        give_to_owner(place, folder / f"{place.name}-socket")
    give_to_owner(folder)
    sockets = [folder / f"{place.name}-socket" for place in places]
    try:
        as_owner([
            program("initdb"), "-D", str(places[0]), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync",
            "--locale", "C.UTF-8",
        ])  # fmt: skip
        _start(places[0], sockets[0])
        as_owner([
            program("pg_basebackup"), "-h", str(sockets[0]), "-U", "postgres", "-D", str(places[1]), "-R",
            "-c", "fast", "--no-sync",
        ])  # fmt: skip
        _start(places[1], sockets[1])
        urls = [f"postgresql://postgres@/postgres?host={one}" for one in sockets]
        yield Pair(urls[0], urls[1], places[1])
    finally:
        for place in places:
            if (place / "postmaster.pid").exists():
                as_owner([program("pg_ctl"), "-D", str(place), "-m", "immediate", "stop"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _start(data: Path, socket: Path) -> None:
    as_owner([
        program("pg_ctl"), "-D", str(data), "-w", "-t", "60", "-l", os.devnull, "-o", f"-k {socket} {_CHEAP}", "start",
    ])  # fmt: skip
