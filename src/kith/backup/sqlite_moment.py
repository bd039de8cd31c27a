"""One moment of an SQLite database: copied aside page by page, while others write on, and cut into pieces.

Pieces are of a fixed size, so that pages that did not change since the last backup are in pieces that are there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import msgspec

from kith.backup.failures import NoRoom
from kith.backup.repository import Repository
from kith.migrations import is_ours

__all__ = ["PIECE", "SqliteMoment", "copy_moment", "count_file", "count_rows", "load", "store"]

PIECE = 128 * 1024
_AHEAD = 16
Tell = Callable[[int], None]


class SqliteMoment(msgspec.Struct, frozen=True):
    path: Path
    revision: str
    counts: dict[str, int]

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def copy_moment(source: Path, target: Path) -> SqliteMoment:
    """All pages in one step: whoever writes meanwhile goes on and is not in it."""
    size = source.stat().st_size
    if shutil.disk_usage(target.parent).free < size + (64 << 20):
        raise NoRoom(f"a copy of the database needs {size >> 20} MB, and there is less room in {target.parent}")
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    uri = f"{source.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=30)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()  # a single file, without a log beside it
        [revision] = copy.execute("SELECT version_num FROM alembic_version").fetchone()
        counts = count_rows(copy)
    return SqliteMoment(target, revision, counts)


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        if is_ours(name, "", None) and not name.startswith("sqlite_")
    ]
    counted = ((name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names)
    return dict(counted)


def count_file(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return count_rows(connection)


async def store(repository: Repository, path: Path, tell: Tell) -> tuple[str, ...]:
    names: list[str] = []
    with path.open("rb") as file:
        while pieces := [piece for _ in range(_AHEAD) if (piece := file.read(PIECE))]:
            names += await asyncio.gather(*map(repository.add, pieces))
            tell(sum(map(len, pieces)))
    return tuple(names)


async def load(repository: Repository, chunks: tuple[str, ...], path: Path, tell: Tell) -> None:
    """The same file again, on the disk when this returns."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        async for piece in _in_order(repository, chunks):
            file.write(piece)
            tell(len(piece))
        file.flush()
        os.fsync(file.fileno())
    with closing(sqlite3.connect(path)) as connection:
        [words] = connection.execute("PRAGMA quick_check(1)").fetchone()
        if words != "ok":
            raise sqlite3.DatabaseError(f"the restored database is damaged: {words}")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()


async def _in_order(repository: Repository, chunks: tuple[str, ...]) -> AsyncIterator[bytes]:
    for start in range(0, len(chunks), _AHEAD):
        for piece in await asyncio.gather(*map(repository.get, chunks[start : start + _AHEAD])):
            yield piece
