"""A row in every table of a schema, whichever it is: made by looking at the tables, so that no release is left out."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import sqlalchemy as sa

__all__ = ["fill"]

AT = dt.datetime(2021, 5, 4, 3, 2, 1, 123456, tzinfo=dt.UTC)
# Words that a column takes where only some are possible.
WORDS = {
    "role": "user",
    "type": "internal",
    "state": "ok",
    "visibility": "public",
    "domain": "",
    "designation": "recovery",
}


def fill(connection: sa.Connection) -> dict[str, int]:
    """How many rows each table has afterwards, of those that took one."""
    metadata = sa.MetaData()
    metadata.reflect(connection, only=lambda name, _: not name.startswith("alembic") and "_search" not in name)
    counts: dict[str, int] = {}
    known: dict[tuple[str, str], Any] = {}
    for number, table in enumerate(sorted(metadata.tables.values(), key=_depth), 1):
        if "_words_" in table.name:
            continue
        values = {column.name: _value(column, number, known) for column in table.columns if _needs(column)}
        try:
            with connection.begin_nested():
                connection.execute(sa.insert(table).values(values))
        except (sa.exc.DBAPIError, sa.exc.StatementError):
            continue  # it allows less than its types say
        for name, value in values.items():
            known[table.name, name] = value
        counts[table.name] = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
    return counts


def _depth(table: sa.Table, seen: frozenset[str] = frozenset()) -> int:
    if table.name in seen:
        return 0
    targets = {key.column.table for key in table.foreign_keys}
    return max((_depth(one, seen | {table.name}) + 1 for one in targets if one is not table), default=0)


def _needs(column: sa.Column[Any]) -> bool:
    return column.server_default is None and (not column.nullable or column.primary_key) and column.computed is None


def _value(column: sa.Column[Any], number: int, known: dict[tuple[str, str], Any]) -> Any:
    for key in column.foreign_keys:
        found = known.get((key.column.table.name, key.column.name))
        if found is not None:
            return found
    kind = column.type
    if column.name in WORDS:
        return WORDS[column.name]
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, sa.Numeric | sa.Integer):
        return number
    if isinstance(kind, sa.DateTime):
        return AT
    if isinstance(kind, sa.Uuid) or (isinstance(kind, sa.String) and kind.length == 36):
        return uuid.UUID(int=number) if isinstance(kind, sa.Uuid) and kind.as_uuid else str(uuid.UUID(int=number))
    if isinstance(kind, sa.String) and kind.length == 27:
        return f"{AT:%Y-%m-%dT%H:%M:%S.%fZ}"
    if isinstance(kind, sa.JSON):
        return {}
    return "{}" if isinstance(kind, sa.Text) else f"a{number}"[: getattr(kind, "length", None) or 20]
