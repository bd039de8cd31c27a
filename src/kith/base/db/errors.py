"""Clashes that both databases report, in words of our own."""

from __future__ import annotations

from kith.base.db.schema import METADATA
from kith.base.errors import Conflict


class Taken(Conflict):
    """A unique constraint refused a row; `table` and `columns` say which."""

    code = "taken"
    message = "This is taken already"

    def __init__(self, table: str, columns: tuple[str, ...]) -> None:
        super().__init__()
        self.table = table
        self.columns = columns


class Dangling(Conflict):
    """A foreign key refused a row: it refers to what is not there, or something still refers to it."""

    code = "dangling"
    message = "Something this refers to does not exist, or something else still refers to this"


def columns_of(constraint: str) -> tuple[str, tuple[str, ...]]:
    """The table and the columns behind a unique constraint's or index's name."""
    for table in METADATA.tables.values():
        if constraint == f"pk_{table.name}":
            return table.name, tuple(column.name for column in table.primary_key)
        for index in table.indexes:
            if index.name == constraint:
                return table.name, tuple(index.info.get("columns", ())) or tuple(c.name for c in index.columns)
        for unique in table.constraints:
            if unique.name == constraint:
                return table.name, tuple(column.name for column in getattr(unique, "columns", ()))
    return constraint, ()
