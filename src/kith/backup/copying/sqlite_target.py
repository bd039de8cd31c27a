"""An SQLite file that is filled beside the place it is for, and put there when it is whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import msgspec

from kith.backup.copying.failures import BadTarget, NotAsItWas
from kith.backup.copying.rows import VERSION, CopiedTable, Row, tables_of_file
from kith.backup.copying.target import MARKS
from kith.backup.failures import NotEmpty
from kith.base.settings import Settings
from kith.migrations import HEAD, MOVING
from kith.migrations.runner import upgrade

__all__ = ["SqliteTarget", "drop_file"]

_INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
_COUNTING = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"


class SqliteTarget:
    refusals: tuple[type[Exception], ...] = (
        *(sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError),
        *(ValueError, TypeError, OverflowError),
    )

    def __init__(self, path: Path, unfinished: Path, settings: Settings, revision: str) -> None:
        self.path = path
        self.unfinished = unfinished
        self._settings = settings
        self._revision = revision
        self._depth = 0
        self._connection = _connect(unfinished)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, ending: str, revision: str = HEAD) -> AsyncIterator[Self]:
        """`ending` tells what the file is called until it is whole."""
        path = settings.sqlite_path
        if path.exists():
            raise NotEmpty(f"there is something at {path}: rows are copied to a new file only")
        unfinished = path.with_name(f"{path.name}.{ending}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT, 0o600))
        except OSError as error:
            raise BadTarget(f"nothing can be written to {path.parent}: {error.strerror}") from error
        target = cls(path, unfinished, settings, revision)
        try:
            yield target
        finally:
            target._connection.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        name = f"part{self._depth}"
        self._connection.execute(f"SAVEPOINT {name}" if self._depth else "BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute(f"ROLLBACK TO {name}" if self._depth > 1 else "ROLLBACK")
                if self._depth > 1:
                    self._connection.execute(f"RELEASE {name}")
            raise
        else:
            self._connection.execute(f"RELEASE {name}" if self._depth > 1 else "COMMIT")
        finally:
            self._depth -= 1

    async def execute(self, statement: str) -> None:
        self._connection.execute(statement)

    async def marks(self) -> dict[str, str] | None:
        if MARKS not in self._tables():
            return None
        return dict(self._connection.execute(f"SELECT name, value FROM {MARKS}").fetchall())

    async def set_mark(self, name: str, value: str) -> None:
        self._connection.execute(f"INSERT OR REPLACE INTO {MARKS} (name, value) VALUES (?, ?)", (name, value))

    def _tables(self) -> set[str]:
        return {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    async def make_tables(self) -> None:
        place = msgspec.structs.replace(self._settings, database=f"sqlite:///{self.unfinished.absolute()}")
        await upgrade(place, to=self._revision)

    async def aside(self) -> list[tuple[str, str]]:
        return [(f'DROP INDEX "{name}"', words) for name, words in self._connection.execute(_INDEXES).fetchall()]

    async def clear(self) -> None:
        """Search indexes are kept by triggers, as ever."""
        for table in tables_of_file(self._connection):
            if table.name != MARKS:
                self._connection.execute(f'DELETE FROM "{table.name}"')
        self._connection.execute(f"UPDATE {VERSION} SET version_num = ?", (MOVING,))

    def tables(self) -> dict[str, CopiedTable]:
        return {one.name: one for one in tables_of_file(self._connection) if one.name != MARKS}

    async def put(self, table: CopiedTable, rows: Sequence[Row]) -> None:
        places = ", ".join("?" * len(table.columns))
        self._connection.executemany(f'INSERT INTO "{table.name}" ({table.listed}) VALUES ({places})', rows)

    def words_of(self, refusal: Exception) -> str:
        return str(refusal)

    async def put_numbers(self, last: dict[str, int]) -> None:
        """Those that count by `AUTOINCREMENT`: a number that was given out is never given out again."""
        for (name,) in self._connection.execute(_COUNTING).fetchall():
            top = self._connection.execute(f'SELECT max(rowid) FROM "{name}"').fetchone()[0] or 0
            self._connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            if number := max(last.get(name, 0), top):
                self._connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))

    async def count(self, table: str) -> int:
        return int(self._connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])

    async def check(self) -> None:
        dangling = self._connection.execute("PRAGMA foreign_key_check").fetchone()
        if dangling is not None:
            table, row, other, _ = dangling
            raise NotAsItWas(f"{table}, row {row}, refers to something in {other} that is not there")

    async def open_doors(self) -> None:
        """On the disk, under its own name, and at once."""
        async with self.transaction():
            self._connection.execute(f"DROP TABLE {MARKS}")
            self._connection.execute(f"UPDATE {VERSION} SET version_num = ?", (self._revision,))
        self._connection.execute("PRAGMA locking_mode = NORMAL").fetchall()
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()
        _flush(self.unfinished)
        self.unfinished.rename(self.path)
        drop_file(self.unfinished)
        _flush(self.path.parent)

    async def empty(self) -> None:
        self._connection.close()
        drop_file(self.unfinished)
        os.close(os.open(self.unfinished, os.O_WRONLY | os.O_CREAT, 0o600))
        self._connection = _connect(self.unfinished)


def drop_file(path: Path) -> None:
    """With the logs beside it: SQLite would put the pages of an earlier one over a new file."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
    path.with_suffix(".migrating").unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5, isolation_level=None)
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -65536", "wal_autocheckpoint = 4096"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    return connection


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
