"""The database: there, of our shape, sound, and with somebody in charge. Read, never written."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
from sqlalchemy import func, select

from kith.base.db import Database, Session, connect, query
from kith.base.db.long_reads import LongReads
from kith.base.db.sqlite import SQLite
from kith.base.errors import Unavailable
from kith.base.jobs import store as jobs
from kith.base.jobs.tables import DEAD, READY
from kith.base.settings import BadSettings, Settings
from kith.cli.check.backups import backups
from kith.cli.check.findings import Finding, cause, ok, problem, warning
from kith.cli.check.neighbours import neighbours
from kith.cli.check.replicas import replicas
from kith.cli.showing import cell
from kith.identity.blueprints import store as blueprints
from kith.identity.users import team
from kith.migrations import HEAD, MOVING, is_unknown, told_moving, told_unknown

OLDEST_POSTGRES = 14
CLOCK_SLIP = timedelta(seconds=5)
WORKER_SILENCE = timedelta(seconds=30)
_BROKEN = (OSError, ValueError, sqlite3.Error, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable)

_server = query(
    select(
        func.current_setting("server_version_num"),
        func.current_setting("server_encoding"),
        func.clock_timestamp(),
    ),
    tuple,
)


class Glance(SQLite):
    """An SQLite database without a pen: opening it makes no file and changes none."""

    def __init__(self, path: Path) -> None:
        self.reader = _look_at(path)
        self.long_reads = LongReads()  # none is: nobody else waits for this one

    async def close(self) -> None:
        self.reader.close()


def _look_at(path: Path) -> sqlite3.Connection:
    """A database nobody has open has no log beside it; to read it as it is spares making one."""
    is_open = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if is_open else "mode=ro&immutable=1"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


async def database(settings: Settings) -> AsyncIterator[Finding]:
    if settings.is_sqlite and not settings.sqlite_path.is_file():
        yield problem(
            "database",
            f"there is no database at {settings.sqlite_path.absolute()} yet",
            "run `kith migrate` or `kith serve`",
        )
        return
    try:
        opened = await _open(settings)
    except BadSettings as error:
        yield problem("database", str(error), _mend(settings))
        return
    except _BROKEN as error:
        yield problem("database", f"the database cannot be opened: {cause(error)}", _mend(settings))
        return
    try:
        async for finding in _look_over(settings, opened):
            yield finding
    except _BROKEN as error:
        yield problem("database", f"the database stopped answering: {cause(error)}", _mend(settings))
    finally:
        await opened.close()


async def _open(settings: Settings) -> Database:
    if settings.is_sqlite:
        return Glance(settings.sqlite_path)
    return await connect(settings, connections=1)


def _mend(settings: Settings) -> str:
    if settings.is_sqlite:
        return f"make sure that the user that runs Kith can read {settings.sqlite_path}, or restore a backup"
    return "make sure that PostgreSQL is running and that the host, user and password in KITH_DATABASE are right"


async def _look_over(settings: Settings, opened: Database) -> AsyncIterator[Finding]:
    db = opened.session()
    revision = await opened.revision()
    yield ok("database", f"{'SQLite' if settings.is_sqlite else 'PostgreSQL'} answers")
    if settings.is_sqlite:
        sound = _soundness(settings.sqlite_path)
        yield sound
        if sound.state != "ok":
            return
    else:
        async for finding in _postgres(db):
            yield finding
        async for finding in replicas(settings):
            yield finding
    yield _schema(revision)
    if revision == HEAD:
        yield await _administrator(db)
        async for finding in neighbours(settings, db):
            yield finding
        async for finding in _jobs(db):
            yield finding
        async for finding in backups(settings, db):
            yield finding
        async for finding in _blueprints(db):
            yield finding


def _schema(revision: str | None) -> Finding:
    if revision == HEAD:
        return ok("schema", f"the database is at {HEAD}, as this version of Kith needs it")
    if revision == MOVING:
        return problem("schema", told_moving(), "run that command to its end first")
    if revision is not None and revision > HEAD:
        return problem(
            "schema",
            f"the database is newer than this version of Kith (it is at {revision}, this version knows {HEAD})",
            "start the version that upgraded it, or a later one",
        )
    if revision is not None and is_unknown(revision):
        return problem("schema", told_unknown(revision), "bring it to the last schema of then first")
    return problem(
        "schema", f"the database is at {revision or 'nothing'}, this version of Kith needs {HEAD}", "run `kith migrate`"
    )


def _soundness(path: Path) -> Finding:
    """A server that starts while its database is read as it was makes it look wrong, once."""
    words = _quick_check(path)
    if words != "ok":
        words = _quick_check(path)
    if words != "ok":
        return problem("database", f"{path} is damaged: {words}", "stop the server and restore a backup")
    return ok("database", f"{path} is not damaged")


def _quick_check(path: Path) -> str:
    with closing(_look_at(path)) as connection:
        try:
            return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.DatabaseError as error:
            return cause(error)


async def _postgres(db: Session) -> AsyncIterator[Finding]:
    [(number, encoding, clock)] = await db.all(_server)
    version = int(number) // 10_000
    if version < OLDEST_POSTGRES:
        yield problem("database", f"this is PostgreSQL {version}", f"upgrade it to {OLDEST_POSTGRES} or newer")
    if encoding != "UTF8":
        yield problem(
            "database",
            f"the encoding of the database is {encoding}",
            "create one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0",
        )
    slip = abs(clock - datetime.now(UTC))
    if slip > CLOCK_SLIP:
        yield warning("clock", f"the clock here and the database's differ by {slip}", "synchronise both with NTP")
    else:
        yield ok("clock", "the clock here and the database's agree")


async def _administrator(db: Session) -> Finding:
    if await team.has_superuser(db):
        return ok("people", "there is an administrator")
    return warning(
        "people",
        "there is no administrator yet",
        "open the set-up link that `kith serve` prints when it starts, or run "
        "`kith users create NAME --email ADDRESS --role owner --confirmed`",
    )


async def _blueprints(db: Session) -> AsyncIterator[Finding]:
    """Files that say how the server is to be, and whether it is."""
    found = [one for one in await blueprints.every(db) if one.enabled]
    for one in found:
        if one.status == "error":
            why = cell(one.log[0] if one.log else "it could not be applied")
            yield problem("files", f"the blueprint {cell(one.name)} is not applied: {why}", "correct the file")
        elif one.status == "orphaned":
            yield warning("files", f"the file of the blueprint {cell(one.name)} is gone", "put it back, or delete it")
    done = sum(one.status in ("successful", "warning") for one in found)
    if done:
        yield ok("files", f"blueprints that are applied: {done}")


async def _jobs(db: Session) -> AsyncIterator[Finding]:
    now, seen = datetime.now(UTC), await jobs.last_beat(db)
    counts = await jobs.counts(db)
    dead = sum(count for _, state, count, _ in counts if state == DEAD)
    is_waiting = any(state == READY and since and since < now for _, state, _, since in counts)
    if dead:
        yield warning("jobs", f"{dead} jobs have failed permanently", "see why: `kith jobs list --state dead`")
    else:
        yield ok("jobs", "no job has failed permanently")
    if seen is not None and seen - now > CLOCK_SLIP:
        yield warning(
            "clock",
            f"a worker was active {seen - now} in the future",
            "the clock was set back; synchronise it with NTP",
        )
    if is_waiting and (seen is None or now - seen > WORKER_SILENCE):
        yield warning(
            "worker",
            f"jobs are waiting, but no worker is running (last seen: {cell(seen) if seen else 'never'})",
            "start `kith serve` with KITH_WORKER=on, or on PostgreSQL `kith work`",
        )
    else:
        yield ok("worker", "jobs are being run")
