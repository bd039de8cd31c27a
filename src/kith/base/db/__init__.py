"""The database: one schema, two engines, and a runner thin enough for the hot path."""

from sqlalchemy.dialects.postgresql import insert as upsert

from kith.base.db.errors import Dangling, Taken
from kith.base.db.opening import connect
from kith.base.db.schema import (
    ID,
    METADATA,
    UID,
    Document,
    Instant,
    ListOf,
    Long,
    above_floor,
    alias_of,
    any_of,
    any_row,
    first_end,
    index_of_some,
    index_of_url,
    mostly_true,
    not_over,
    rows_as_json,
    unplanned,
)
from kith.base.db.session import Database, Session
from kith.base.db.statement import Command, Query, add_once, command, insert_into, query

__all__ = [
    "ID",
    "METADATA",
    "UID",
    "Command",
    "Dangling",
    "Database",
    "Document",
    "Instant",
    "ListOf",
    "Long",
    "Query",
    "Session",
    "Taken",
    "above_floor",
    "add_once",
    "alias_of",
    "any_of",
    "any_row",
    "command",
    "connect",
    "first_end",
    "index_of_some",
    "index_of_url",
    "insert_into",
    "mostly_true",
    "not_over",
    "query",
    "rows_as_json",
    "unplanned",
    "upsert",
]
