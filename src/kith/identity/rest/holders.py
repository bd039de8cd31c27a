"""Records that prevent the deletion of others, and what people know them by."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, FromClause, Table, bindparam, cast, func, select
from sqlalchemy import Text as SQLText

from kith.base.db import METADATA, query
from kith.identity.rest.policy_targets import policy_targets

_NAMES = ("name", "slug", "identifier", "domain")
SHOWN_BY = "shown_by"  # in a table's `info`: the column for what a row without a name belongs to


class ReferringTable:
    """A table whose rows prevent the deletion of rows they refer to."""

    def __init__(self, table: Table, column: Column[Any]) -> None:
        key = table.primary_key.columns[0]
        self.type = str(table.name)
        label = func.coalesce(*_labels(table, table), cast(key, SQLText))
        self.query = query(select(key, label.label("label")).where(column == bindparam("id")).limit(20), tuple)


def _labels(table: Table, row: FromClause) -> list[Any]:
    """The row's own name, else that of what it belongs to: a kind to its family, a list to its owner."""
    own = [row.c[name] for name in _NAMES if name in table.c]
    if own:
        return own[:1]
    name = table.info.get(SHOWN_BY, table.primary_key.columns[0].name)
    found = []
    for above, column in _belongs_to(table.c[name]):
        there = above.alias()
        found += [select(one).where(there.c[column] == row.c[name]).scalar_subquery() for one in _labels(above, there)]
    return found


def _belongs_to(column: Column[Any]) -> Iterator[tuple[Table, str]]:
    for key in column.foreign_keys:
        if key.column.table is not policy_targets:
            yield key.column.table, key.column.name
            continue
        for other in METADATA.tables.values():
            yield from ((other, one.parent.name) for one in other.foreign_keys if _is_target(one.parent))


def _is_target(column: Column[Any]) -> bool:
    """Whether the column holds a row's own id as something that policies can be bound to."""
    return column.name == "pbm_uuid" and any(key.column.table is policy_targets for key in column.foreign_keys)


@lru_cache(64)
def holders(table: Table) -> tuple[ReferringTable, ...]:
    return tuple(
        ReferringTable(other, key.parent)
        for other in METADATA.tables.values()
        for key in other.foreign_keys
        if key.column.table is table and (key.ondelete or "").upper() in ("RESTRICT", "NO ACTION")
    )
