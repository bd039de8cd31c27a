"""Where another server is read from: its PostgreSQL, without writing there, or a plain dump of it.

Both give rows in COPY's text format, so that there is one reader for both.
"""

from __future__ import annotations

import asyncio
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from kith.base.db.copy_format import END, NotACopy, read_copy_head
from kith.base.db.unopened import open_named
from kith.base.errors import Invalid

__all__ = ["PostgresDatabase", "PostgresDump", "PostgresSource", "Told", "Wanted", "source_for"]

LONGEST_LINE = 64 << 20
_CUSTOM = b"PGDMP"
_BEGINS, _ENDS = b"-- PostgreSQL database dump", b"-- PostgreSQL database dump complete"
_ENCODING = re.compile(rb"SET client_encoding = '(\w+)';")
_GZIP = b"\x1f\x8b"
_WHICH = frozenset({"host", "port", "database", "dbname"})

# Takes a table and its columns, then each of its rows' lines.
Take = Callable[[str, list[str], bytes | None], None]
Wanted = Mapping[str, Sequence[str] | None]  # tables, and which of their columns; None for all
Told = Callable[[str, int], None]  # which table is read, and how many bytes came since the last time


class PostgresSource(Protocol):
    @property
    def name(self) -> str:
        """By which it is known again, without secrets."""
        ...

    @property
    def size(self) -> int | None:
        """How many bytes it has, where that is known."""
        ...

    async def read(self, take: Take, told: Told) -> None:
        """Every row of every wanted table, one table after the other."""
        ...


def source_for(where: str, wanted: Wanted) -> PostgresSource:
    if where.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(where, wanted)
    return PostgresDump(Path(where), wanted)


class PostgresDump:
    """A file that `pg_dump` wrote in plain format; `.gz` is read as it is."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self._path = path
        self._wanted = wanted
        if not path.is_file():
            raise Invalid(f"{path} is neither a file nor the address of a PostgreSQL database (postgresql://...)")
        with path.open("rb") as file:
            head = file.read(5)
        if head == _CUSTOM:
            raise Invalid(
                f"{path} is a dump in PostgreSQL's own format: make it plain with"
                f" `pg_restore -f {path.stem}.sql {path}`, and import that file"
            )
        self._is_packed = head.startswith(_GZIP)

    @property
    def name(self) -> str:
        return str(self._path.absolute())

    @property
    def size(self) -> int:
        return self._path.stat().st_size

    async def read(self, take: Take, told: Told) -> None:
        try:
            await asyncio.to_thread(self._read, take, told)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Invalid(f"{self._path} is cut off or damaged ({error}): copy or make the dump again") from error
        except NotACopy as error:
            raise Invalid(f"{self._path} cannot be read: {error}") from error

    def _read(self, take: Take, told: Told) -> None:
        with self._path.open("rb") as raw:
            lines: IO[bytes] = gzip.GzipFile(fileobj=raw) if self._is_packed else raw  # type: ignore[assignment]
            columns: list[str] = []
            table = ""
            is_wanted = in_block = has_head = is_whole = False
            read = 0
            for number, line in enumerate(_lines(lines)):
                if number % 10_000 == 0:
                    read, before = raw.tell(), read
                    told(table, read - before)
                if in_block:
                    if line == END:
                        in_block = False
                    elif is_wanted:
                        take(table, columns, line)
                elif line.startswith(b"COPY "):
                    head = read_copy_head(line.decode("utf-8", "replace"))
                    if head is not None:
                        (table, columns), in_block = head, True
                        is_wanted = table in self._wanted
                        if is_wanted:
                            take(table, columns, None)
                elif line.startswith(_BEGINS):
                    has_head, is_whole = True, line.startswith(_ENDS)
                else:
                    self._refuse_encoding(line)
            if in_block:
                raise Invalid(f"{self._path} ends in the middle of the table {table}: the dump is not whole")
            if has_head and not is_whole:
                raise Invalid(f"{self._path} does not end as dumps end: it is not whole")

    def _refuse_encoding(self, line: bytes) -> None:
        found = _ENCODING.match(line)
        if found is not None and found[1] != b"UTF8":
            encoding = found[1].decode("ascii", "replace")
            raise Invalid(f"{self._path} is written in {encoding}: make it with `pg_dump --encoding=UTF8`")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Only `\\n` ends a line here."""
    while line := file.readline(LONGEST_LINE):
        if not line.endswith(b"\n") and len(line) == LONGEST_LINE:
            raise NotACopy("a line of the dump is longer than 64 MB")
        yield line.rstrip(b"\n").removesuffix(b"\r") if line.endswith(b"\r\n") else line.rstrip(b"\n")


class PostgresDatabase:
    """A database that is only read: one transaction, so that all tables are of the same moment."""

    def __init__(self, url: str, wanted: Wanted) -> None:
        self._url = url
        self._wanted = wanted

    @property
    def name(self) -> str:
        parts = urlsplit(self._url)
        # A password may stand among the options, too: only those are told that say which database it is.
        which = [(name, value) for name, value in parse_qsl(parts.query) if name in _WHICH]
        return f"postgresql://{parts.hostname or ''}:{parts.port or ''}{parts.path}?{urlencode(which)}"

    @property
    def size(self) -> None:
        return None

    async def read(self, take: Take, told: Told) -> None:
        connection = await open_named(self._url, DateStyle="ISO", TimeZone="UTC")
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                there = await connection.fetch(
                    "SELECT table_name, column_name FROM information_schema.columns"
                    " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
                )
                known: dict[str, list[str]] = {}
                for table, column in there:
                    known.setdefault(table, []).append(column)
                for table, wanted in self._wanted.items():
                    there_are = known.get(table, [])
                    columns = there_are if wanted is None else [name for name in wanted if name in there_are]
                    if columns:
                        await self._copy(connection, table, columns, take, told)
        finally:
            await connection.close()

    async def _copy(
        self, connection: asyncpg.Connection, table: str, columns: list[str], take: Take, told: Told
    ) -> None:
        rest = b""

        async def keep(data: bytes) -> None:
            nonlocal rest
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                take(table, columns, line)
            if len(rest) > LONGEST_LINE:
                raise NotACopy("a row is longer than 64 MB")
            told(table, len(data))

        take(table, columns, None)
        await connection.copy_from_table(table, columns=columns, schema_name="public", output=keep)
