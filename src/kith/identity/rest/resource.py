"""The declaration of a REST collection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic

import msgspec
from sqlalchemy import Column, ColumnElement, ForeignKey, Integer, MetaData, Table

from kith.base.db import METADATA, UID, Instant, Query
from kith.identity.rest.fields import Field
from kith.identity.rest.record import TIME, R, check_record

if TYPE_CHECKING:
    from kith.base.exchange import Answer, Exchange
    from kith.base.work import Work
    from kith.identity.caller import ApiCaller
    from kith.identity.rest.record_draft import RecordDraft

ALL = frozenset({"list", "create", "read", "update", "partial_update", "delete"})
READ = frozenset({"list", "read"})


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Kinds of one thing, such as policies: a table for what they share, and one more for each kind."""

    table: Table
    key: str
    fields: tuple[Field, ...]
    decides: bool = False
    removing: Callable[[Work, Any, ApiCaller], Awaitable[None]] | None = None  # for every kind, before its own


class ListFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A query parameter of a list. `read` returns the value to bind, None to ignore it, or raises `InvalidValue`."""

    name: str
    clause: ColumnElement[bool]
    read: Callable[[str], Any]
    bind: str = "value"
    many: bool = False
    exists: Any = None  # a query of identifiers that must hold what was given


class Resource(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """One collection below /api/v2: its path, its record, and the few places where it is not like the others.

    `name` is what the API calls a record. That its struct fits the fields is checked when the collection is declared.
    """

    path: str
    name: str
    record: type[R]
    key: str
    table: Table | None
    fields: tuple[Field, ...]
    family: Family | None = None
    kind: str = ""
    target: bool = False
    only: ColumnElement[bool] | None = None  # of the table, the rows that are records
    search: tuple[str | ColumnElement[str], ...] = ("name",)  # fields, or what stands in another table
    order: tuple[str, ...] = ("name",)
    contains: Callable[..., ColumnElement[bool]] | None = None  # an index for words of three letters and more
    contains_part: Callable[[str], ColumnElement[bool]] | None = None  # the same without it, for shorter ones
    exact: tuple[str, ...] = ()
    filters: tuple[ListFilter, ...] = ()
    allow: frozenset[str] = ALL
    label: str = "name"
    own: str = ""  # the field with a record's owner, who may see and change it without any permission
    # Slow checks, made before the record is held and anything is written.
    ahead: Callable[[RecordDraft[R]], Awaitable[None]] | None = None
    prepare: Callable[[RecordDraft[R]], Awaitable[None]] | None = None
    saved: Callable[[RecordDraft[R]], Awaitable[None]] | None = None
    removing: Callable[[Work, R, ApiCaller], Awaitable[None]] | None = None
    decorate: Callable[[Work, list[R]], Awaitable[None]] | None = None
    describe: str = ""
    decides: bool = False  # who may enter an application hangs on it
    next_end: Query[datetime] | None = None  # when the first of what records show ends by itself
    export: tuple[str, ...] = ()  # the columns of its CSV file; empty: there is none
    export_by: str = "pk"  # the field by which the lines are in order, before the key
    is_key_secret: bool = False  # whoever knows the key of a record can use it, so the audit trail has its fingerprint
    is_audited: bool = True  # False: changes are of no interest to anybody but the owner

    def __post_init__(self) -> None:
        key = "int" if self.is_integer else "str"
        times = dict.fromkeys(self.times, TIME)
        check_record(self.record, self.all_fields, {"pk": key, self.key: key} | times, self.path)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The family's table, then the kind's own."""
        found = (self.family.table if self.family else None, self.table)
        return tuple(table for table in found if table is not None)

    @property
    def times(self) -> dict[str, Column[Any]]:
        """When a record was made and last changed, where the table has it and no field shows it."""
        first = self.tables[0]
        shown = {field.column_name for field in self.all_fields if field.is_stored}
        return {
            name: first.c[column]
            for name, column in (("created", "created_at"), ("last_updated", "updated_at"))
            if column in first.c and column not in shown
        }

    @property
    def decides_access(self) -> bool:
        return self.decides or (self.family is not None and self.family.decides)

    @property
    def area(self) -> str:
        return self.path.split("/")[1]

    @property
    def operation(self) -> str:
        """The start of every operation's name: `policies_password`."""
        return self.path.strip("/").replace("/", "_")

    @property
    def model(self) -> str:
        return self.name.lower()

    def permission(self, verb: str) -> str:
        return f"{self.area}.{verb}_{self.model}"

    @property
    def all_fields(self) -> tuple[Field, ...]:
        return (*(self.family.fields if self.family else ()), *self.fields)

    @property
    def is_integer(self) -> bool:
        column = next(table.c[self.key] for table in reversed(self.tables) if self.key in table.c)
        return isinstance(column.type, Integer)


def record_table(name: str, *columns: Column[Any], fields: tuple[Field, ...], metadata: MetaData = METADATA) -> Table:
    """A table with a column for every stored field, and the times at which rows were made and changed.

    Integer keys are never used again.
    """
    return Table(
        name,
        metadata,
        *columns,
        *(field.column() for field in fields if field.is_stored),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        sqlite_autoincrement=any(column.primary_key and isinstance(column.type, Integer) for column in columns),
    )


def kind_table(name: str, family: Family, fields: tuple[Field, ...], *columns: Column[Any]) -> Table:
    """The table of one kind; its rows are deleted with the family's."""
    key = family.table.c[family.key]
    parent = ForeignKey(f"{family.table.name}.{family.key}", ondelete="CASCADE")
    kind: Any = Integer() if isinstance(key.type, Integer) else UID()
    stored = (field.column() for field in fields if field.is_stored)
    return Table(
        name, METADATA, Column(family.key, kind, parent, primary_key=True, autoincrement=False), *columns, *stored
    )


def link_table(
    name: str, owner: str, other: str, *, owner_integer: bool = False, other_integer: bool = False, holds: bool = False
) -> Table:
    """A list of references; rows are deleted with either side, or hold the other one: it cannot be deleted then."""
    return Table(
        name,
        METADATA,
        Column("owner", Integer if owner_integer else UID, ForeignKey(owner, ondelete="CASCADE"), primary_key=True),
        Column(
            "other",
            Integer if other_integer else UID,
            ForeignKey(other, ondelete="RESTRICT" if holds else "CASCADE"),
            primary_key=True,
            index=True,
        ),
    )


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """Something beside the six operations: a path of its own, or one below an item (`{id}` in it).

    `permission` is what the caller needs; None is for anyone who is signed in, `is_open` for everybody. `refusal` is
    what callers are told who are no superusers: the permission alone is not enough.
    """

    method: str
    path: str
    name: str
    handler: Callable[[Exchange, ApiCaller, str], Awaitable[Answer]]
    permission: str | None
    is_open: bool = False
    refusal: str = ""
    body: str | None = None
    answer: str | None = None
    many: bool = False
    status: int = 200
    summary: str = ""
    is_csv: bool = False  # it answers with a file, not with JSON
