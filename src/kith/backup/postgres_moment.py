"""One moment of a PostgreSQL database: every table as COPY writes it, all read in one snapshot.

Nothing but a connection is needed: no program of PostgreSQL, no right that its owner does not have. The tables
themselves are made by our own migrations, up to the one that the rows are of. Rows are in the order of their keys and
cut where their content says, so that most pieces of a table that has only grown are there already.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from kith.backup.failures import BadRepository
from kith.backup.manifest import Sequence, TableData
from kith.backup.repository import Repository
from kith.base.db.unopened import open_named
from kith.migrations import is_ours

__all__ = ["COUNTERS", "FOREIGN_KEYS", "OWN", "Cutter", "PostgresMoment", "count_rows", "fill", "is_empty", "moment"]

_SMALLEST, _USUAL, _LARGEST = 32 * 1024, 256 * 1024, 1024 * 1024
_VERSION = "alembic_version"
OWN = """
SELECT c.relname::text FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY 1
"""
_COLUMNS = """
SELECT attname::text FROM pg_attribute
WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""
_KEY = """
SELECT a.attname::text FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY k.place
"""
_SEQUENCES = """
SELECT c.relname::text FROM pg_class c
WHERE c.relkind = 'S' AND c.relnamespace = current_schema()::regnamespace ORDER BY 1
"""
# Columns that count by themselves: table, column, sequence.
COUNTERS = """
SELECT t.relname::text, a.attname::text, s.oid::regclass::text FROM pg_class s
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.refclassid = 'pg_class'::regclass
JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace AND d.deptype IN ('a', 'i') ORDER BY 1
"""
FOREIGN_KEYS = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
Tell = Callable[[int], None]


class Cutter:
    """Cuts lines into pieces where a line itself says so: another line before it moves no cut behind it."""

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The pieces that are complete by now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        pieces: list[bytes] = []
        for line in lines:
            self._lines.append(line)
            self._size += len(line) + 1
            if self._size >= _LARGEST or (self._size >= _SMALLEST and _ends(line)):
                pieces.append(self._take())
        return pieces

    def end(self) -> list[bytes]:
        return [self._take()] if self._lines else []

    def _take(self) -> bytes:
        piece = b"\n".join(self._lines) + b"\n"
        self._lines, self._size = [], 0
        return piece


def _ends(line: bytes) -> bool:
    return zlib.crc32(line) < (len(line) + 1) * (1 << 32) // _USUAL


class PostgresMoment:
    """Everything asked of it is answered as of one moment."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.counts: dict[str, int] = {}
        self.size = 0

    async def revision(self) -> str | None:
        if not await self._connection.fetchval("SELECT to_regclass($1) IS NOT NULL", _VERSION):
            return None
        found: str | None = await self._connection.fetchval("SELECT version_num FROM alembic_version")
        return found

    async def table_names(self) -> list[str]:
        names = [row[0] for row in await self._connection.fetch(OWN)]
        return [name for name in names if name != _VERSION and is_ours(name, "", None)]

    async def store(self, repository: Repository, tell: Tell) -> tuple[TableData, ...]:
        return tuple([await self._store_table(repository, name, tell) for name in await self.table_names()])

    async def _store_table(self, repository: Repository, name: str, tell: Tell) -> TableData:
        columns = [row[0] for row in await self._connection.fetch(_COLUMNS, f'"{name}"')]
        key = [row[0] for row in await self._connection.fetch(_KEY, f'"{name}"')]
        cutter, names = Cutter(), list[str]()

        async def take(pieces: list[bytes]) -> None:
            names.extend(await asyncio.gather(*map(repository.add, pieces)))
            self.size += sum(map(len, pieces))
            tell(sum(map(len, pieces)))

        async def hear(data: bytes) -> None:
            await take(cutter.feed(data))

        order = f" ORDER BY {_listed(key)}" if key else ""
        select = f'SELECT {_listed(columns)} FROM "{name}"{order}'
        done = await self._connection.copy_from_query(select, output=hear, timeout=None)
        await take(cutter.end())
        self.counts[name] = int(done.rpartition(" ")[2])
        return TableData(name, tuple(columns), tuple(names))

    async def sequences(self) -> tuple[Sequence, ...]:
        found = []
        for (name,) in await self._connection.fetch(_SEQUENCES):
            row = await self._connection.fetchrow(f'SELECT last_value, is_called FROM "{name}"')
            found.append(Sequence(name, row[0], row[1]))
        return tuple(found)


@asynccontextmanager
async def moment(url: str) -> AsyncIterator[PostgresMoment]:
    connection = await open_named(url, application_name="kith backup")
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL timezone = 'UTC'")
            yield PostgresMoment(connection)
    finally:
        await connection.close(timeout=5)


async def is_empty(url: str) -> bool:
    connection = await open_named(url)
    try:
        return not await connection.fetch(OWN)
    finally:
        await connection.close(timeout=5)


async def count_rows(url: str) -> dict[str, int]:
    async with moment(url) as now:
        names = await now.table_names()
        return {name: await now._connection.fetchval(f'SELECT count(*) FROM "{name}"') for name in names}


async def fill(
    url: str, repository: Repository, tables: tuple[TableData, ...], sequences: tuple[Sequence, ...], tell: Tell
) -> None:
    """Put the rows into tables that the migrations have just made, in one transaction.

    What the migrations put there goes. References between tables are taken away meanwhile and made again at the end,
    which looks at every one of them.
    """
    connection = await open_named(url, application_name="kith restore")
    try:
        async with connection.transaction():
            await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL timezone = 'UTC'")
            await _check(connection, tables)
            names = ", ".join(f'"{one.name}"' for one in tables)
            foreign = await connection.fetch(FOREIGN_KEYS)
            for table, name, _ in foreign:
                await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            await connection.execute(f"TRUNCATE {names}")
            for one in tables:
                source = _read(repository, one.chunks, tell)
                await connection.copy_to_table(one.name, source=source, columns=list(one.columns), timeout=None)
            for table, name, words in foreign:
                await connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {words}", timeout=None)
            own = {row[0] for row in await connection.fetch(_SEQUENCES)}
            for sequence in sequences:
                if sequence.name in own:
                    await connection.execute(
                        "SELECT setval($1::regclass, $2, $3)",
                        f'"{sequence.name}"',
                        sequence.last_value,
                        sequence.is_called,
                    )
        await connection.execute("ANALYZE", timeout=None)
    finally:
        await connection.close(timeout=5)


async def _check(connection: Any, tables: tuple[TableData, ...]) -> None:
    """Only tables and columns that our migrations have made: a manifest without a key says what its writer wants."""
    own = set(await PostgresMoment(connection).table_names())
    for one in tables:
        if one.name not in own:
            raise BadRepository(f"the backup has rows of {one.name[:100]!r}, which is no table of Kith")
        columns = {row[0] for row in await connection.fetch(_COLUMNS, f'"{one.name}"')}
        if not columns.issuperset(one.columns):
            raise BadRepository(f"the backup has columns of {one.name} that Kith does not know")


async def _read(repository: Repository, chunks: tuple[str, ...], tell: Tell) -> AsyncIterator[bytes]:
    for name in chunks:
        piece = await repository.get(name)
        tell(len(piece))
        yield piece


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
