"""What is copied: every table of ours with its columns, and rows as SQLite holds them on the way between the two."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, Protocol

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer

from kith.base.db import UID, Document, Instant
from kith.migrations import is_ours
from kith.schema import METADATA

__all__ = [
    "LAST_MOMENT",
    "Batches",
    "CopiedColumn",
    "CopiedTable",
    "CopySource",
    "Pace",
    "Row",
    "all_tables",
    "key_of",
    "tables_of_file",
]

Kind = Literal["plain", "boolean", "instant", "document", "uid", "whole", "real"]
Row = Sequence[Any]  # a moment is text, a truth value 0 or 1, a document text without spaces
Batches = AsyncIterator[list[Row]]

VERSION = "alembic_version"
LAST_MOMENT = "9999-12-31T23:59:59.999999Z"  # which the driver of PostgreSQL writes as infinity
_TYPES: tuple[tuple[type, Kind], ...] = (
    (Instant, "instant"),
    (UID, "uid"),
    (Document, "document"),
    (Boolean, "boolean"),
    (BigInteger, "whole"),
    (Integer, "whole"),
    (Float, "real"),
)
# Of a column that this version does not know any more: as the migrations have declared it on SQLite.
_DECLARED: dict[str, Kind] = {
    "BOOLEAN": "boolean",
    "VARCHAR(27)": "instant",
    "VARCHAR(36)": "uid",
    "BIGINT": "whole",
    "INTEGER": "whole",
    "SMALLINT": "whole",
    "FLOAT": "real",
}
_MOST_ROWS, _FIRST_ROWS, _BYTES = 5000, 100, 4 << 20


class CopiedColumn(msgspec.Struct, frozen=True):
    name: str
    kind: Kind


class CopiedTable(msgspec.Struct, frozen=True):
    """`key` are the places of the primary key among the columns: rows are read in its order."""

    name: str
    columns: tuple[CopiedColumn, ...]
    key: tuple[int, ...]

    @property
    def listed(self) -> str:
        return ", ".join(f'"{column.name}"' for column in self.columns)

    @property
    def listed_key(self) -> str:
        return ", ".join(f'"{self.columns[place].name}"' for place in self.key)

    def places(self, *kinds: Kind) -> list[int]:
        return [place for place, column in enumerate(self.columns) if column.kind in kinds]


class CopySource(Protocol):
    """Where rows come from, all of one moment."""

    async def counts(self) -> dict[str, int]: ...

    async def last_numbers(self) -> dict[str, int]:
        """The last number that each counter has given out, by table: also of rows that are gone."""
        ...

    def batches(self, table: CopiedTable, after: Sequence[Any] | None) -> Batches:
        """In the order of the primary key, from behind `after` on."""
        ...


class Pace:
    """How many rows are read at once, so that long ones need no more memory than short ones."""

    def __init__(self) -> None:
        self.rows = _FIRST_ROWS

    def note(self, rows: list[Row]) -> None:
        sample = rows[:: max(1, len(rows) // 64)]
        if sample:
            size = sum(len(value) if type(value) is str else 8 for row in sample for value in row) // len(sample) + 1
            self.rows = min(_MOST_ROWS, self.rows * 4, max(1, _BYTES // size))


def all_tables() -> list[CopiedTable]:
    """Of the newest schema."""
    return [
        CopiedTable(
            str(table.name),
            tuple(CopiedColumn(str(column.name), _kind(column)) for column in table.columns),
            tuple(place for place, column in enumerate(table.columns) if column.primary_key),
        )
        for table in sorted(METADATA.tables.values(), key=lambda one: one.name)
    ]


def tables_of_file(connection: sqlite3.Connection) -> list[CopiedTable]:
    """Of the schema that an SQLite file is at, which may be an older one."""
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if is_ours(name, "", None) and not name.startswith("sqlite_") and name != VERSION
    ]
    return [_of_file(connection, name) for name in names]


def _of_file(connection: sqlite3.Connection, name: str) -> CopiedTable:
    known = METADATA.tables.get(name)
    found = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    columns = [
        CopiedColumn(
            column, _kind(known.c[column]) if known is not None and column in known.c else _DECLARED.get(type_, "plain")
        )
        for _, column, type_, *_ in found
    ]
    key = sorted((row[5], place) for place, row in enumerate(found) if row[5])
    return CopiedTable(name, tuple(columns), tuple(place for _, place in key))


def _kind(column: Column[Any]) -> Kind:
    return next((kind for type_, kind in _TYPES if isinstance(column.type, type_)), "plain")


def key_of(table: CopiedTable, row: Row) -> list[Any]:
    return [row[place] for place in table.key]
