"""A PostgreSQL database that is filled with rows as SQLite holds them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Self
from urllib.parse import urlsplit

import asyncpg

from kith.backup.copying.failures import BadTarget, OtherMove
from kith.backup.copying.rows import CopiedTable, Row
from kith.backup.copying.target import MARKS
from kith.backup.failures import NotEmpty
from kith.backup.postgres_moment import COUNTERS, FOREIGN_KEYS, OWN
from kith.base.db.unopened import FAILURES, reason
from kith.base.settings import Settings
from kith.migrations import HEAD, MOVING
from kith.migrations.runner import upgrade

__all__ = ["PostgresTarget", "without_password"]

REHEARSAL = "kith_rehearsal"
_LOCK = 0x6D6F7665  # an advisory lock: one move at a time into a database
# Those with a list of values in their condition stay: PostgreSQL writes it otherwise than it was given, and would not
# find an index made of that for the statements that ask for it.
_INDEXES = """
SELECT quote_ident(c.relname), pg_get_indexdef(i.indexrelid) FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'i'
AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
AND coalesce(pg_get_expr(i.indpred, i.indrelid), '') NOT LIKE '%ANY%'
ORDER BY 1
"""
_TRUTH = {0: False, 1: True}
_TURNS: dict[str, Callable[[Any], Any]] = {"boolean": _TRUTH.__getitem__, "instant": datetime.fromisoformat}


class PostgresTarget:
    refusals: tuple[type[Exception], ...] = (
        *(asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, asyncpg.ProgramLimitExceededError),
        *(asyncpg.InterfaceError, ValueError, TypeError, KeyError, OverflowError),
    )

    def __init__(self, connection: Any, settings: Settings, schema: str | None) -> None:
        self._connection = connection
        self._settings = settings
        self._schema = schema

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *, rehearsing: bool, may_be_filled: bool = False) -> AsyncIterator[Self]:
        """Empty, or what an interrupted copy has left. A rehearsal gets a schema that is dropped at the end."""
        connection = await _connect(settings.database)
        try:
            await _refuse_unfit(connection)
            target = cls(connection, settings, REHEARSAL if rehearsing else None)
            tables = await target._tables()
            if tables and MARKS not in tables and not may_be_filled:
                raise NotEmpty("there are tables in the other database: rows are copied to an empty one only")
            if rehearsing:
                await target._make_schema()
            try:
                yield target
            finally:
                if rehearsing:
                    await target._drop_schema()
        finally:
            await connection.close(timeout=5)

    def transaction(self) -> Any:
        return self._connection.transaction()

    async def execute(self, statement: str) -> None:
        await self._connection.execute(statement, timeout=None)

    async def marks(self) -> dict[str, str] | None:
        if MARKS not in await self._tables():
            return None
        return dict(await self._connection.fetch(f"SELECT name, value FROM {MARKS}"))

    async def set_mark(self, name: str, value: str) -> None:
        await self._connection.execute(
            f"INSERT INTO {MARKS} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = $2",
            name,
            value,
        )

    async def _tables(self) -> list[str]:
        return [row[0] for row in await self._connection.fetch(OWN)]

    async def make_tables(self) -> None:
        await upgrade(self._settings, schema=self._schema)

    async def aside(self) -> list[tuple[str, str]]:
        """Indexes are made before references: those look for rows by them."""
        indexes = await self._connection.fetch(_INDEXES)
        foreign = await self._connection.fetch(FOREIGN_KEYS)
        return [(f"DROP INDEX {name}", words) for name, words in indexes] + [
            (f"ALTER TABLE {table} DROP CONSTRAINT {name}", f"ALTER TABLE {table} ADD CONSTRAINT {name} {words}")
            for table, name, words in foreign
        ]

    async def clear(self) -> None:
        names = [name for name in await self._tables() if name not in (MARKS, "alembic_version")]
        await self.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in names))
        await self.execute(f"UPDATE alembic_version SET version_num = '{MOVING}'")

    async def put(self, table: CopiedTable, rows: Sequence[Row]) -> None:
        turns = [(place, turn) for place, column in enumerate(table.columns) if (turn := _TURNS.get(column.kind))]
        try:
            await self._connection.copy_records_to_table(
                table.name,
                records=[_turned(row, turns) for row in rows],
                columns=[column.name for column in table.columns],
                timeout=None,
            )
        except asyncpg.InterfaceError as error:
            if self._connection.is_closed():
                raise BadTarget("the connection to PostgreSQL was lost: run the same once more, it goes on") from error
            raise

    def words_of(self, refusal: Exception) -> str:
        if isinstance(refusal, (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)):
            return "a text has a NUL character"
        detail = getattr(refusal, "detail", None)
        words = str(refusal).splitlines()[0] if str(refusal) else type(refusal).__name__
        return f"{words} ({detail})" if detail and detail not in words else words

    async def put_numbers(self, last: dict[str, int]) -> None:
        for table, column, sequence in await self._connection.fetch(COUNTERS):
            top = await self._connection.fetchval(f'SELECT max("{column}") FROM "{table}"')
            number = max(last.get(table, 0), top or 0)
            await self._connection.execute("SELECT setval($1::regclass, $2, $3)", sequence, max(number, 1), number > 0)

    async def count(self, table: str) -> int:
        return int(await self._connection.fetchval(f'SELECT count(*) FROM "{table}"', timeout=None))

    async def check(self) -> None:
        """References were looked at when they were made."""
        await self.execute("ANALYZE")

    async def open_doors(self) -> None:
        async with self.transaction():
            await self.execute("SET LOCAL synchronous_commit = on")
            await self.execute(f"DROP TABLE {MARKS}")
            await self.execute(f"UPDATE alembic_version SET version_num = '{HEAD}'")

    async def empty(self) -> None:
        """What a move has left: every table there is ours, for it began in an empty place."""
        async with self.transaction():
            for name in await self._tables():
                await self.execute(f'DROP TABLE "{name}" CASCADE')

    async def _make_schema(self) -> None:
        await self._drop_schema()  # what a rehearsal left that was killed
        try:
            await self.execute(f"CREATE SCHEMA {REHEARSAL}")
        except asyncpg.InsufficientPrivilegeError as error:
            raise BadTarget(
                "a rehearsal needs a schema of its own, and this role may not make one: make it the owner of the "
                "database, or GRANT CREATE ON DATABASE ... TO it"
            ) from error
        await self.execute(f"SET search_path TO {REHEARSAL}, public")

    async def _drop_schema(self) -> None:
        await self.execute(f"DROP SCHEMA IF EXISTS {REHEARSAL} CASCADE")


def _turned(row: Row, turns: list[tuple[int, Callable[[Any], Any]]]) -> Row:
    if not turns:
        return row
    values = list(row)
    for place, turn in turns:
        if values[place] is not None:
            values[place] = turn(values[place])
    return values


async def _connect(url: str) -> Any:
    given = {"application_name": "kith move", "timezone": "UTC", "statement_timeout": "0", "synchronous_commit": "off"}
    try:
        return await asyncpg.connect(url, timeout=10, server_settings=given)
    except FAILURES as error:
        raise BadTarget(f"nothing can be written to {without_password(url)}: {reason(error)}") from error


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", ":...@", 1) if parts.password else url


async def _refuse_unfit(connection: Any) -> None:
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise BadTarget(f"the database is in {encoding}, and texts are in UTF-8: make it with ENCODING 'UTF8'")
    if await connection.fetchval("SELECT pg_is_in_recovery()"):
        raise BadTarget("that is a standby, to which nothing can be written: name the primary")
    if await connection.fetchval("SELECT current_schema()") is None:
        raise BadTarget("the role has no schema to make tables in: CREATE SCHEMA public, or set its search_path")
    if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):
        raise OtherMove("another move into this database is under way")
