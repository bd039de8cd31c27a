"""Rows of a backup of PostgreSQL, read from its pieces as SQLite holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kith.backup.copying.postgres_source import packed
from kith.backup.copying.rows import LAST_MOMENT, Batches, CopiedTable, Row
from kith.backup.failures import BadRepository
from kith.backup.manifest import Manifest, TableData
from kith.backup.repository import Repository
from kith.base.db.copy_format import read_line

__all__ = ["BackupRowSource"]

_COUNTER = "_id_seq"  # what PostgreSQL calls the counter of a table
_TRUTH = {"t": 1, "f": 0}


def _moment(text: str) -> str:
    """`2026-01-02 03:04:05.6+00`, which may be infinite, with all six digits."""
    if text == "infinity":
        return LAST_MOMENT
    day, _, time = text.partition(" ")
    second, _, fraction = time.removesuffix("+00").partition(".")
    if len(day) != 10 or len(second) != 8 or not time.endswith("+00"):
        raise ValueError(f"{text[:50]!r} is no moment")
    return f"{day}T{second}.{fraction:0<6}Z"


_TURNS: dict[str, Callable[[str], Any]] = {
    "boolean": _TRUTH.__getitem__,
    "instant": _moment,
    "document": packed,
    "whole": int,
    "real": float,
}


class BackupRowSource:
    def __init__(self, repository: Repository, manifest: Manifest, known: dict[str, CopiedTable]) -> None:
        """`known` are the tables of the schema that the backup is of; others are refused."""
        self._repository = repository
        self._manifest = manifest
        self._data = {one.name: one for one in manifest.tables}
        self.tables = [_chosen(one, known) for one in manifest.tables]

    async def counts(self) -> dict[str, int]:
        return {name: self._manifest.counts.get(name, 0) for name in self._data}

    async def last_numbers(self) -> dict[str, int]:
        return {
            one.name.removesuffix(_COUNTER): one.last_value if one.is_called else one.last_value - 1
            for one in self._manifest.sequences
        }

    async def batches(self, table: CopiedTable, after: Sequence[Any] | None) -> Batches:  # noqa: ARG002 - as all
        """A piece at a time, always from the first."""
        turns = [(place, turn) for place, one in enumerate(table.columns) if (turn := _TURNS.get(one.kind))]
        for name in self._data[table.name].chunks:
            piece = await self._repository.get(name)
            try:
                yield [_read(line, turns, len(table.columns)) for line in piece.removesuffix(b"\n").split(b"\n")]
            except (ValueError, KeyError) as error:
                raise BadRepository(f"the backup has a row of {table.name} that cannot be read: {error}") from error


def _read(line: bytes, turns: list[tuple[int, Callable[[str], Any]]], width: int) -> Row:
    values: list[Any] = list(read_line(line))
    if len(values) != width:
        raise ValueError(f"it has {len(values)} values instead of {width}")
    for place, turn in turns:
        if values[place] is not None:
            values[place] = turn(values[place])
    return values


def _chosen(data: TableData, known: dict[str, CopiedTable]) -> CopiedTable:
    """The table with the columns of the backup, in their order."""
    table = known.get(data.name)
    if table is None:
        raise BadRepository(f"the backup has rows of {data.name[:100]!r}, which is no table of Kith")
    columns = {one.name: one for one in table.columns}
    if not columns.keys() >= set(data.columns):
        raise BadRepository(f"the backup has columns of {data.name} that Kith does not know")
    key = [data.columns.index(table.columns[place].name) for place in table.key]
    return CopiedTable(data.name, tuple(columns[name] for name in data.columns), tuple(key))
