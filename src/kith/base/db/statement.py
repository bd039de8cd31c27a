"""A statement is built by SQLAlchemy, compiled once per dialect when it is first run, and run as text ever after.

A declaration may give `lambda: select(...)` rather than the statement itself, which is then built when it is first run:
for those that are large, so that a process that never runs them does not pay for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

import msgspec
from sqlalchemy import Boolean, Table, bindparam, insert
from sqlalchemy.dialects.postgresql import dialect as postgresql_dialect
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.dml import Insert

from kith.base.db.schema import Document, Instant, ListOf, SearchWords

Row = TypeVar("Row")
Convert = Callable[[Any], Any]
Declared = Executable | Callable[[], Executable]  # a statement, or what builds it

DIALECTS: dict[str, Any] = {
    "sqlite": sqlite_dialect(paramstyle="qmark"),
    "postgresql": postgresql_dialect(paramstyle="numeric_dollar"),  # type: ignore[no-untyped-call]
}
# SQLite knows TRUE and FALSE, and a condition compared with 1 would not use its index.
DIALECTS["sqlite"].supports_native_boolean = True
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


_last: tuple[datetime | None, str] = (None, "")


def _to_text(at: datetime) -> str:
    """The moment of a work is in most of its statements: the last one is at hand."""
    global _last  # noqa: PLW0603 - one for the whole process
    last, text = _last
    if at is not last:
        text = _in_utc(at).isoformat(timespec="microseconds")[:-6] + "Z"
        _last = (at, text)
    return text


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def _to_json(value: object) -> str:
    return _encode(value).decode()


def _to_phrase(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _to_whole(at: datetime) -> datetime | str:
    """The encoder leaves out the fraction of a whole second, which the wire always has."""
    return at if at.microsecond else _to_text(at)


def _raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


# What must be turned on the way in and out, per dialect; a type that is not named passes as it is.
_BIND: dict[str, dict[type, Convert]] = {
    "sqlite": {Instant: _to_text, Document: _to_json, ListOf: _to_json, SearchWords: _to_phrase},
    "postgresql": {Document: _to_json},
}
_RESULT: dict[str, dict[type, Convert]] = {
    "sqlite": {Instant: datetime.fromisoformat, Document: _decode, Boolean: bool},
    "postgresql": {Document: _decode},
}
# A row on its way to the wire keeps what JSON can take as it is: moments as the driver gives them, documents raw.
_WIRE: dict[str, dict[type, Convert]] = {
    "sqlite": {Document: _raw, Boolean: bool},
    "postgresql": {Document: _raw, Instant: _to_whole},
}


class Compiled(Generic[Row]):
    """One statement's text in one dialect, how its parameters are bound and how its rows are read."""

    __slots__ = ("_given", "_known", "_make", "_reads", "_scalar", "sql", "writes")

    def __init__(self, clause: Executable, row: type[Row] | None, dialect: str, *, wire: bool) -> None:
        compiled = clause.compile(dialect=DIALECTS[dialect])  # type: ignore[attr-defined]
        unknown = {name: None for name, bind in compiled.binds.items() if bind.required}
        # A constant list becomes a parameter for each of its elements, whose values are known.
        expanded = compiled.construct_expanded_state(unknown)
        elements = {part: name for name, parts in expanded.parameter_expansion.items() for part in parts}
        self.sql: str = expanded.statement
        self.writes = bool(getattr(clause, "is_dml", False)) or getattr(clause, "_for_update_arg", None) is not None
        names = tuple(expanded.positiontup or ())
        binds = [compiled.binds[elements.get(name, name)] for name in names]
        turns = [_BIND[dialect].get(type(bind.type)) for bind in binds]
        # What is known already stands in its place; the rest is filled in with every run.
        self._known: list[Any] = [
            _turned(turn, None if bind.required else expanded.parameters[name])
            for name, bind, turn in zip(names, binds, turns, strict=True)
        ]
        self._given = tuple(
            (place, name, turn)
            for place, (name, bind, turn) in enumerate(zip(names, binds, turns, strict=True))
            if bind.required
        )
        self._make = row
        self._reads: tuple[tuple[int, Convert], ...] = ()
        self._scalar = row is not None and not issubclass(row, (msgspec.Struct, tuple))
        if row is not None:
            columns = list(clause.exported_columns)  # type: ignore[attr-defined]
            self._reads = tuple(
                (place, convert)
                for place, column in enumerate(columns)
                if (convert := (_WIRE if wire else _RESULT)[dialect].get(type(column.type)))
            )
            names_of_row = _names(row)
            if names_of_row and names_of_row != tuple(c.name for c in columns):
                given = [column.name for column in columns]
                raise TypeError(f"{row.__name__} has {names_of_row}, the statement gives {given}")

    def bind(self, params: Mapping[str, Any]) -> list[Any]:
        values = self._known.copy()
        for place, name, turn in self._given:
            value = params[name]
            values[place] = value if turn is None or value is None else turn(value)
        return values

    def read(self, rows: Sequence[Sequence[Any]]) -> list[Row]:
        make, reads = self._make, self._reads
        if self._scalar:
            if reads:
                convert = reads[0][1]
                return [cast("Row", value if (value := row[0]) is None else convert(value)) for row in rows]
            return [row[0] for row in rows]
        if make is tuple:
            return cast("list[Row]", [tuple(self._converted(row)) if reads else tuple(row) for row in rows])
        if issubclass(cast("type", make), tuple):  # a NamedTuple
            built = cast("Callable[[Any], Row]", make._make)  # type: ignore[union-attr]
            return [built(self._converted(row)) for row in rows] if reads else list(map(built, rows))
        build = cast("Callable[..., Row]", make)
        if not reads:
            return [build(*row) for row in rows]
        return [build(*self._converted(row)) for row in rows]

    def _converted(self, row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for place, convert in self._reads:
            if values[place] is not None:
                values[place] = convert(values[place])
        return values


def _names(row: type) -> tuple[str, ...]:
    """The columns that a row has by name; none of a plain tuple or a single value."""
    if issubclass(row, msgspec.Struct):
        return row.__struct_fields__
    return getattr(row, "_fields", ())


def _turned(turn: Convert | None, value: object) -> object:
    return value if turn is None or value is None else turn(value)


class Statement(Generic[Row]):
    """A statement as a store declares it; built and compiled when a database first runs it."""

    __slots__ = ("_compiled", "_declared", "_wire", "row")

    def __init__(self, declared: Declared, row: type[Row] | None, *, wire: bool = False) -> None:
        self._wire = wire
        self._declared = declared
        self.row = row
        self._compiled: dict[str, Compiled[Row]] = {}

    def compiled(self, dialect: str) -> Compiled[Row]:
        found = self._compiled.get(dialect)
        if found is None:
            clause = self._declared() if callable(self._declared) else self._declared
            found = self._compiled[dialect] = Compiled(clause, self.row, dialect, wire=self._wire)
        return found


class Query(Statement[Row]):
    """A statement that gives rows: a struct, a tuple with names or without, or a single value each."""

    __slots__ = ()


class Command(Statement[None]):
    """A statement that gives only the number of rows it touched."""

    __slots__ = ()


def query(declared: Declared, row: type[Row], *, wire: bool = False) -> Query[Row]:
    """`wire` for rows that are encoded as they come and looked at by nobody."""
    kind: Any = row
    while hasattr(kind, "__supertype__"):  # a NewType, which is nothing but its base when the program runs
        kind = kind.__supertype__
    return Query(declared, kind, wire=wire)


def command(declared: Declared) -> Command:
    return Command(declared, None)


def insert_into(table: Table, *, without: Sequence[str] = ()) -> Insert:
    """An insert of every column but `without`, each a parameter of the column's name."""
    columns = {c.name: bindparam(c.name, type_=c.type) for c in table.columns if c.name not in without}
    return insert(table).values(columns).inline()


def add_once(table: Table, *, without: Sequence[str] = ()) -> Insert:
    """An insert that does nothing where a unique value is there already (both dialects read the clause)."""
    columns = {c.name: bindparam(c.name, type_=c.type) for c in table.columns if c.name not in without}
    return upsert(table).values(columns).on_conflict_do_nothing().inline()
