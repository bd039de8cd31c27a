"""Rows of an SQLite file, read in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from kith.backup.copying.failures import SourceInUse
from kith.backup.copying.rows import Batches, CopiedTable, Pace, Row, all_tables

__all__ = ["SqliteRowSource"]

_BUSY_SECONDS = 5.0


class SqliteRowSource:
    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, holding: bool) -> Iterator[Self]:
        """With `holding`, nobody writes until it is closed."""
        uri = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE" if holding else "BEGIN")
            except sqlite3.OperationalError as error:
                raise SourceInUse(f"somebody writes to {path}: stop every server and command that uses it") from error
            yield cls(connection)

    async def leases(self) -> dict[int, datetime]:
        found = self._connection.execute("SELECT slot, leased_until FROM base_id_slots ORDER BY slot")
        return {slot: datetime.fromisoformat(until) for slot, until in found}

    async def counts(self) -> dict[str, int]:
        counted = ((one.name, self._connection.execute(f'SELECT count(*) FROM "{one.name}"')) for one in all_tables())
        return {name: found.fetchone()[0] for name, found in counted}

    async def last_numbers(self) -> dict[str, int]:
        return dict(self._connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())

    async def batches(self, table: CopiedTable, after: Sequence[Any] | None) -> Batches:
        beyond, values = "", list(after or ())
        if values:
            beyond = f" WHERE ({table.listed_key}) > ({', '.join('?' * len(values))})"
        select = f'SELECT {table.listed} FROM "{table.name}"{beyond} ORDER BY {table.listed_key}'
        pace = Pace()
        with closing(self._connection.execute(select, values)) as found:
            while rows := _some(found, pace.rows):
                pace.note(rows)
                yield rows


def _some(found: sqlite3.Cursor, most: int) -> list[Row]:
    return found.fetchmany(most)
