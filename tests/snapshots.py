"""Everything that a town's database holds, to be compared with what it holds later."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import asyncpg

from kith.base.db import METADATA
from tests.town import Town

__all__ = ["WHOLE", "Differences", "Snapshot", "differences", "take"]

Snapshot = dict[str, set[str]]
Differences = dict[str, tuple[set[str], set[str]]]
WHOLE = ("*",)  # in place of columns: the table may differ in everything


async def take(town: Town, may_differ: Mapping[str, Sequence[str]]) -> Snapshot:
    """Rows by table, as text, without the columns that may differ."""
    wanted = {
        table.name: ", ".join(
            f'"{one.name}"' for one in table.columns if one.name not in may_differ.get(table.name, ())
        )
        for table in METADATA.sorted_tables
        if may_differ.get(table.name) != WHOLE
    }
    statements = {name: f'SELECT {columns} FROM "{name}"' for name, columns in wanted.items()}
    if town.engine == "sqlite":
        return _rows_of_sqlite(town, statements)
    connection = await asyncpg.connect(town.database)
    try:
        return {
            name: _as_texts(await connection.fetch(statement), lambda row: tuple(row.values()))
            for name, statement in statements.items()
        }
    finally:
        await connection.close()


def _rows_of_sqlite(town: Town, statements: Mapping[str, str]) -> Snapshot:
    connection = sqlite3.connect(f"file:{town.folder / 'kith.sqlite3'}?mode=ro", uri=True)
    try:
        return {name: _as_texts(connection.execute(one).fetchall(), tuple) for name, one in statements.items()}
    finally:
        connection.close()


def _as_texts(rows: Sequence[Any], values: Callable[[Any], tuple[Any, ...]]) -> set[str]:
    return {repr(values(row)) for row in rows}


def differences(before: Snapshot, after: Snapshot) -> Differences:
    """By table: what is gone, and what is new."""
    return {
        name: (before[name] - after[name], after[name] - before[name]) for name in before if before[name] != after[name]
    }
