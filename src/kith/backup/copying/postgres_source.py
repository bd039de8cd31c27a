"""Rows of a PostgreSQL database, read in one snapshot and written as SQLite holds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Self

import asyncpg
import msgspec

from kith.backup.copying.failures import SourceInUse
from kith.backup.copying.rows import LAST_MOMENT, Batches, CopiedColumn, CopiedTable, Pace, Row, all_tables
from kith.backup.postgres_moment import COUNTERS
from kith.base.db.unopened import open_named

__all__ = ["PostgresRowSource", "packed"]

_PATIENCE = """
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '5s'
"""


class PostgresRowSource:
    dialect = "postgresql"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, *, holding: bool) -> AsyncIterator[Self]:
        """With `holding`, nobody leases numbers for ids until it is closed, which whoever writes must."""
        connection = await open_named(url, application_name="kith move", timezone="UTC")
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await connection.execute(_PATIENCE)
                if holding:
                    await _hold(connection)
                yield cls(connection)
        finally:
            await connection.close(timeout=5)

    async def leases(self) -> dict[int, datetime]:
        return dict(await self._connection.fetch("SELECT slot, leased_until FROM base_id_slots ORDER BY slot"))

    async def counts(self) -> dict[str, int]:
        names = [one.name for one in all_tables()]
        return {name: await self._connection.fetchval(f'SELECT count(*) FROM "{name}"') for name in names}

    async def last_numbers(self) -> dict[str, int]:
        found = {}
        for table, _, sequence in await self._connection.fetch(COUNTERS):
            last, is_called = await self._connection.fetchrow(f"SELECT last_value, is_called FROM {sequence}")
            found[table] = last if is_called else last - 1
        return found

    async def batches(self, table: CopiedTable, after: Sequence[Any] | None) -> Batches:
        beyond, values = "", list(after or ())
        if values:
            marks = (_mark(table.columns[place], number) for number, place in enumerate(table.key, 1))
            beyond = f" WHERE ({table.listed_key}) > ({', '.join(marks)})"
        listed = ", ".join(_read(column) for column in table.columns)
        select = f'SELECT {listed} FROM "{table.name}"{beyond} ORDER BY {table.listed_key}'
        documents, pace = table.places("document"), Pace()
        found = await self._connection.cursor(select, *values)
        while rows := await found.fetch(pace.rows):
            pace.note(rows)
            yield [_packed(row, documents) for row in rows] if documents else rows


async def _hold(connection: Any) -> None:
    try:
        await connection.execute("LOCK TABLE base_id_slots IN SHARE MODE")
    except asyncpg.LockNotAvailableError as error:
        raise SourceInUse("somebody writes to the database: stop every server and command that uses it") from error


def _read(column: CopiedColumn) -> str:
    name = f'"{column.name}"'
    match column.kind:
        case "boolean":
            return f"{name}::int"
        case "uid" | "document":
            return f"{name}::text"
        case "instant":
            moment = f"to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
            return f"CASE WHEN {name} = 'infinity' THEN '{LAST_MOMENT}' ELSE {moment} END"
        case _:
            return name


def _mark(column: CopiedColumn, number: int) -> str:
    """A value of a key, as it is written down."""
    types = {"boolean": "int::boolean", "uid": "text::uuid", "whole": "bigint"}
    return f"${number}::{types.get(column.kind, 'text')}"


def _packed(row: Row, documents: list[int]) -> Row:
    values = list(row)
    for place in documents:
        if values[place] is not None:
            values[place] = packed(values[place])
    return values


def packed(document: str) -> str:
    """Without the spaces that PostgreSQL writes into documents."""
    return msgspec.json.format(document, indent=-1)
