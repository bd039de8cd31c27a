"""A row in every table of a schema, whichever it is: made by looking at the tables, so that no release is left out."""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

__all__ = ["fill", "shapes"]

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


def fill(connection: sa.Connection, first: int = 1, only: Collection[str] | None = None) -> dict[str, int]:
    """How many rows each table has afterwards, of those that took one. `first`: the number of the first row."""
    metadata = sa.MetaData()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index", sa.exc.SAWarning)
        metadata.reflect(connection, only=lambda name, _: _is_filled(name) and (only is None or name in only))
    counts: dict[str, int] = {}
    known: dict[tuple[str, str], Any] = {}
    for number, table in enumerate(sorted(metadata.tables.values(), key=_depth), first):
        is_wanted = (only is None or table.name in only) and not _lacks(table, known)
        values = {column.name: _value(column, number, known) for column in table.columns if _needs(column)}
        if not is_wanted or not _take(connection, table, values):
            values = _any_row(connection, table)  # for what refers to it
        else:
            counts[table.name] = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        known |= {(table.name, name): value for name, value in values.items()}
    return counts


def shapes(connection: sa.Connection) -> dict[str, str]:
    """Of each table, to be compared with an earlier one."""
    asked = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        if connection.dialect.name == "sqlite"
        else "SELECT table_name, string_agg(column_name || data_type || is_nullable, ',' ORDER BY ordinal_position)"
        " FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name"
    )
    return {name: shape for name, shape in connection.exec_driver_sql(asked) if _is_filled(name)}


def _is_filled(name: str) -> bool:
    return not name.startswith(("alembic", "sqlite")) and "_search" not in name and "_words_" not in name


def _lacks(table: sa.Table, known: dict[tuple[str, str], Any]) -> bool:
    """Whether a row of it would refer to another that is not there."""
    return any(
        (key.column.table.name, key.column.name) not in known
        for key in table.foreign_keys
        if _needs(key.parent) and key.column.table is not table
    )


def _take(connection: sa.Connection, table: sa.Table, values: dict[str, Any]) -> bool:
    """A table may allow less than its types say."""
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(table).values(values))
    except (sa.exc.DBAPIError, sa.exc.StatementError):
        return False
    return True


def _any_row(connection: sa.Connection, table: sa.Table) -> dict[str, Any]:
    found = connection.execute(sa.select(*table.primary_key.columns).limit(1)).mappings().first()
    return {} if found is None else dict(found)


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
