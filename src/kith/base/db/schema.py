"""The one schema: its metadata, and column types that mean the same on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    FromClause,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Subquery,
    TableClause,
    Text,
    and_,
    bindparam,
    cast,
    column,
    exists,
    func,
    literal_column,
    or_,
    select,
    table,
    text,
    true,
    union_all,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import operators
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter, BooleanClauseList
from sqlalchemy.sql.selectable import NamedFromClause
from sqlalchemy.types import TypeDecorator, TypeEngine

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


@lru_cache(512)
def _bare(named: FromClause) -> TableClause:
    return table(named.name, *(column(one.name, one.type) for one in named.columns))  # type: ignore[attr-defined]


def alias_of(named: FromClause, name: str | None = None) -> NamedFromClause:
    """A table under another name. `Table.alias()` copies all that is known of each column, and there are thousands."""
    return _bare(named).alias(name)


def index_of_some(table: str, *columns: str) -> Index:
    """An index of the rows that have a first column at all: the others need not be written into it."""
    where = text(f"{columns[0]} IS NOT NULL")
    return Index(f"ix_{table}_{columns[0]}", *columns, sqlite_where=where, postgresql_where=where)


def index_of_url(table: str) -> Index:
    """To find rows by `url`, of any length: a B-tree of PostgreSQL refuses what is longer than 2,704 bytes."""
    where = text("url IS NOT NULL")
    return Index(f"ix_{table}_url", "url", postgresql_using="hash", sqlite_where=where, postgresql_where=where)


# A whole number of 64 bits, which SQLite's INTEGER is too.
Long = BigInteger().with_variant(Integer(), "sqlite")
# An id. SQLite keeps a row under its key where the key is called just so, and finds it in one step.
ID = Long


class Instant(TypeDecorator[Any]):
    """A moment, aware and UTC: `timestamptz`, or ISO 8601 text of fixed width on SQLite, which sorts alike."""

    impl = String(27)
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.TIMESTAMP(timezone=True))  # type: ignore[no-any-return]
        return dialect.type_descriptor(String(27))  # type: ignore[no-any-return]


class UID(TypeDecorator[Any]):
    """A UUID, which the program holds as its canonical lower-case text: nothing to convert on the way."""

    impl = String(36)
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.UUID(as_uuid=False))  # type: ignore[no-any-return]
        return dialect.type_descriptor(String(36))  # type: ignore[no-any-return]


class Document(TypeDecorator[Any]):
    """A JSON value."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.JSONB())  # type: ignore[no-any-return]
        return dialect.type_descriptor(Text())  # type: ignore[no-any-return]


class ListOf(TypeDecorator[Any]):
    """The type of a parameter that carries a list; never of a column."""

    impl = Text
    cache_ok = True


class SearchWords(TypeDecorator[Any]):
    """The type of a parameter that is looked up in a full-text index: there it is words, never operators."""

    impl = Text
    cache_ok = True


class AnyOf(ColumnElement[bool]):
    """`column = any(list)`, with the whole list as one parameter, so that the statement's text never varies."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], bind: BindParameter[Any]) -> None:
        self.column = column
        self.bind = bind


def any_of(column: ColumnElement[Any], name: str) -> AnyOf:
    return AnyOf(column, bindparam(name, type_=ListOf()))


class AboveFloor(ColumnElement[bool]):
    """`column > bind`, beside a `column < top` whose values are both unknown when the statement is planned.

    PostgreSQL takes such a pair for a narrow stretch, one row in two hundred, and rather reads and sorts all of it than
    walks along the index until a page is full; of a hundred thousand rows that costs seconds. A comparison of rows is
    found in the same index, and not taken for half of a pair. SQLite reckons alike, and takes our word.
    """

    inherit_cache = True
    type = Boolean()

    def __init__(self, column: ColumnElement[Any], bind: ColumnElement[Any]) -> None:
        self.column = column
        self.bind = bind


def above_floor(column: ColumnElement[Any], bind: ColumnElement[Any]) -> AboveFloor:
    return AboveFloor(column, bind)


class MostlyTrue(ColumnElement[bool]):
    """A clause that is true of most rows. SQLite takes each for true of fewer, and few rows for quickly sorted."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, clause: ColumnElement[bool]) -> None:
        self.clause = clause


def mostly_true(*clauses: ColumnElement[bool]) -> ColumnElement[bool]:
    """All of them. It is said of each: SQLite takes apart what is joined by AND, and forgets what was said of that."""
    return and_(true(), *(MostlyTrue(one) for clause in clauses for one in _joined(clause)))


def _joined(clause: ColumnElement[bool]) -> Iterator[ColumnElement[bool]]:
    if isinstance(clause, BooleanClauseList) and clause.operator is operators.and_:
        for one in clause.clauses:
            yield from _joined(one)
    else:
        yield clause


class Unplanned(ColumnElement[Any]):
    """A parameter that PostgreSQL does not look at when it plans.

    It plans with the values as long as that promises to be cheaper, with each execution anew, which for a page takes
    longer than to read it. Without them there is nothing to promise.
    """

    inherit_cache = True

    def __init__(self, bind: BindParameter[Any]) -> None:
        self.bind = bind
        self.type = bind.type


def unplanned(bind: BindParameter[Any]) -> Unplanned:
    return Unplanned(bind)


def any_row(table: FromClause, clause: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether a table has such a row: it is looked at for itself, whatever the statement around is about."""
    return exists(select(literal_column("1")).select_from(table).where(clause).correlate_except(table))


class RightNow(ColumnElement[Any]):
    """The moment at which the statement runs: for what ends by itself, however late anybody looks."""

    inherit_cache = True
    type = Instant()


RIGHT_NOW = RightNow()


def not_over(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether what ends at `column` (never, if it has no value) has not ended yet."""
    return or_(column.is_(None), column > RIGHT_NOW)


def first_end(*columns: ColumnElement[Any]) -> Select[Any]:
    """When the first of what these columns give an end to is over."""
    ends = union_all(*(select(func.min(one).label("at")).where(one > RIGHT_NOW) for one in columns)).subquery()
    return select(func.min(ends.c.at))


class RowsAsJSON(ColumnElement[str]):
    """All rows of a subquery as one JSON array of arrays, in their order: a driver reads one row faster than many."""

    inherit_cache = True
    type = Text()

    def __init__(self, rows: Subquery) -> None:
        self.rows = rows


def rows_as_json(rows: Subquery) -> ColumnElement[str]:
    """NULL or an empty array where there are none."""
    return RowsAsJSON(rows)


def _columns(element: RowsAsJSON, compiler: SQLCompiler, **options: object) -> str:
    return ", ".join(compiler.process(column, **options) for column in element.rows.c)


@compiles(RowsAsJSON, "sqlite")
def _sqlite_rows(element: RowsAsJSON, compiler: SQLCompiler, **options: object) -> str:
    return f"json_group_array(json_array({_columns(element, compiler, **options)}))"


@compiles(RowsAsJSON, "postgresql")
def _postgres_rows(element: RowsAsJSON, compiler: SQLCompiler, **options: object) -> str:
    return f"CAST(json_agg(json_build_array({_columns(element, compiler, **options)})) AS TEXT)"


@compiles(RightNow, "sqlite")
def _sqlite_now(_element: RightNow, _compiler: SQLCompiler, **_options: object) -> str:
    return "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"


@compiles(RightNow, "postgresql")
def _postgres_now(_element: RightNow, _compiler: SQLCompiler, **_options: object) -> str:
    return "statement_timestamp()"


@compiles(Unplanned, "sqlite")
def _sqlite_unplanned(element: Unplanned, compiler: SQLCompiler, **options: object) -> str:
    return compiler.process(element.bind, **options)


@compiles(Unplanned, "postgresql")
def _postgres_unplanned(element: Unplanned, compiler: SQLCompiler, **options: object) -> str:
    return f"(SELECT {compiler.process(cast(element.bind, element.type), **options)})"


@compiles(AboveFloor, "sqlite")
def _sqlite_above(element: AboveFloor, compiler: SQLCompiler, **options: object) -> str:
    return f"likely({compiler.process(element.column, **options)} > {compiler.process(element.bind, **options)})"


@compiles(AboveFloor, "postgresql")
def _postgres_above(element: AboveFloor, compiler: SQLCompiler, **options: object) -> str:
    column, bind = compiler.process(element.column, **options), compiler.process(element.bind, **options)
    return f"ROW({column}, 0) > ROW({bind}, 0)"


@compiles(MostlyTrue, "sqlite")
def _sqlite_mostly(element: MostlyTrue, compiler: SQLCompiler, **options: object) -> str:
    return f"likelihood({compiler.process(element.clause, **options)}, 1.0)"


@compiles(MostlyTrue, "postgresql")
def _postgres_mostly(element: MostlyTrue, compiler: SQLCompiler, **options: object) -> str:
    return f"({compiler.process(element.clause, **options)})"


@compiles(AnyOf, "sqlite")
def _sqlite_any_of(element: AnyOf, compiler: SQLCompiler, **options: object) -> str:
    column, bind = compiler.process(element.column, **options), compiler.process(element.bind, **options)
    return f"{column} IN (SELECT value FROM json_each({bind}))"


@compiles(AnyOf, "postgresql")
def _postgres_any_of(element: AnyOf, compiler: SQLCompiler, **options: object) -> str:
    return f"{compiler.process(element.column, **options)} = ANY({compiler.process(element.bind, **options)})"
