"""Rows of every table, written by many at a time.

An import fills tables of all rooms at once and announces nothing: nobody is told of what happened years ago. So it
writes rows by the names of their tables, as migrations do, and not through the rooms' verbs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import Table, bindparam, update

from kith.base.db import Command, Session, add_once, command
from kith.schema import METADATA

__all__ = ["Rows"]


@lru_cache(256)
def _adding(table: str) -> Command:
    return command(add_once(METADATA.tables[table]))


@lru_cache(256)
def _changing(table: str, key: str, names: tuple[str, ...]) -> Command:
    rows: Table = METADATA.tables[table]
    values = {name: bindparam(f"new_{name}", type_=rows.c[name].type) for name in names}
    return command(update(rows).where(rows.c[key] == bindparam("row_key")).values(values))


class Rows:
    """What one batch adds and changes, table by table in the order in which each was first named.

    A row that is there already stays as it is: whatever was interrupted can be done again.
    """

    def __init__(self) -> None:
        self._added: dict[str, list[dict[str, Any]]] = {}
        self._changed: dict[tuple[str, str, tuple[str, ...]], list[dict[str, Any]]] = {}

    def add(self, table: str, **values: Any) -> None:
        """Columns that are not named are empty."""
        columns = METADATA.tables[table].columns
        unknown = values.keys() - columns.keys()
        if unknown:
            raise TypeError(f"{table} has no {sorted(unknown)}")
        self._added.setdefault(table, []).append({name: values.get(name) for name in columns.keys()})  # noqa: SIM118

    def change(self, table: str, key: int, /, *, by: str = "id", **values: Any) -> None:
        names = tuple(sorted(values))
        new = {f"new_{name}": value for name, value in values.items()}
        self._changed.setdefault((table, by, names), []).append({"row_key": key} | new)

    async def write(self, db: Session) -> None:
        for table, rows in self._added.items():
            await db.many(_adding(table), rows)
        for (table, by, names), rows in self._changed.items():
            await db.many(_changing(table, by, names), rows)
        self._added, self._changed = {}, {}
