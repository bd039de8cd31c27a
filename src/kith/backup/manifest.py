"""What one backup consists of."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

__all__ = ["FORMAT", "FileEntry", "Manifest", "RecordedSettings", "Sequence", "TableData", "new_id"]

FORMAT = 1


class FileEntry(msgspec.Struct, frozen=True, array_like=True):
    """A stored file. `modified` tells whether it is the one that an earlier backup has read."""

    key: str
    size: int
    modified: str
    chunks: tuple[str, ...]


class TableData(msgspec.Struct, frozen=True):
    """The rows of a table as PostgreSQL's COPY writes them."""

    name: str
    columns: tuple[str, ...]
    chunks: tuple[str, ...]


class Sequence(msgspec.Struct, frozen=True):
    name: str
    last_value: int
    is_called: bool


class RecordedSettings(msgspec.Struct, frozen=True):
    """`values` are those that are no secret; `secret` are the names of the others that were set."""

    values: dict[str, object]
    secret: tuple[str, ...]
    file: str | None  # the text of kith.toml


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    format: int = FORMAT
    id: str
    made_at: datetime  # the moment that the database is of
    version: str
    revision: str
    engine: Literal["sqlite", "postgresql"]
    base_url: str
    domain: str
    counts: dict[str, int]  # rows in each table
    database: tuple[str, ...] = ()  # the file of SQLite, in order
    tables: tuple[TableData, ...] = ()  # or the tables of PostgreSQL
    sequences: tuple[Sequence, ...] = ()
    database_bytes: int = 0
    files: tuple[str, ...] = ()  # chunks with lists of `FileEntry`
    files_count: int = 0
    files_bytes: int = 0
    files_gone: int = 0  # deleted while they were about to be read
    keys: tuple[FileEntry, ...] = ()
    settings: RecordedSettings
    new_chunks: int = 0
    new_bytes: int = 0  # as they are stored

    @property
    def size(self) -> int:
        return self.database_bytes + self.files_bytes + sum(one.size for one in self.keys)


def new_id(at: datetime, spread: str) -> str:
    """Ids sort as their moments do."""
    return f"{at:%Y%m%dT%H%M%SZ}-{at.microsecond:06d}{spread}"
