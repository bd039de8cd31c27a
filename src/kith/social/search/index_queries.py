"""Asking the index, in the language of whichever database there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Table, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kith.base.db import ID, ListOf, unplanned
from kith.social.search.tables import account_words, status_words
from kith.social.search.words import Term, for_postgres, for_sqlite

MOST_PART = 64  # letters of a phrase that are looked for in a text: that costs as much as both lengths multiplied
SPACED = "(' ' || words || ' ')"  # so that every word stands between two spaces


class Matches(ColumnElement[bool]):
    """Whether the words kept for the row with this id are those bound as `name` (give the values of `bound`)."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, table: Table, id: ColumnElement[Any], name: str) -> None:
        self.table = table
        self.id = id
        self.on_sqlite = bindparam(f"{name}_sqlite", type_=Text())
        self.on_postgres = bindparam(f"{name}_postgres", type_=Text())


@compiles(Matches, "sqlite")
def _sqlite(element: Matches, compiler: SQLCompiler, **options: object) -> str:
    id, bind = compiler.process(element.id, **options), compiler.process(element.on_sqlite, **options)
    index = f"{element.table.name}_index"
    return f"{id} IN (SELECT rowid FROM {index} WHERE {index} MATCH {bind})"


@compiles(Matches, "postgresql")
def _postgres(element: Matches, compiler: SQLCompiler, **options: object) -> str:
    id, bind = compiler.process(element.id, **options), compiler.process(element.on_postgres, **options)
    [key] = element.table.primary_key.columns
    return (
        f"{id} IN (SELECT {key.name} FROM {element.table.name} "
        f"WHERE to_tsvector('simple', words) @@ to_tsquery('simple', {bind}))"
    )


class HasWords(ColumnElement[bool]):
    """Whether the text of this status has the words bound as `name`, and none of those bound as `without` (give the
    values of `bound` for each; all of them are short). It is asked of each row, for those who have few of them.

    To ask an index about one row, or to take its text apart as an index does, takes ten to a hundred times as long.
    """

    inherit_cache = True
    type = Boolean()

    def __init__(self, id: ColumnElement[Any], name: str, *, without: str) -> None:
        self.id = id
        self.parts = bindparam(f"{name}_parts", type_=ListOf())
        self.unwanted = bindparam(f"{without}_parts", type_=ListOf())


@compiles(HasWords, "sqlite")
def _has_words_on_sqlite(element: HasWords, compiler: SQLCompiler, **options: object) -> str:
    id = compiler.process(element.id, **options)
    parts, unwanted = (compiler.process(one, **options) for one in (element.parts, element.unwanted))
    return (
        f"EXISTS (SELECT 1 FROM {status_words.name} AS own WHERE own.status_id = {id} "
        f"AND NOT EXISTS (SELECT 1 FROM json_each({parts}) WHERE {SPACED} NOT LIKE value) "
        f"AND NOT EXISTS (SELECT 1 FROM json_each({unwanted}) WHERE {SPACED} LIKE value))"
    )


@compiles(HasWords, "postgresql")
def _has_words_on_postgres(element: HasWords, compiler: SQLCompiler, **options: object) -> str:
    """A value, not EXISTS, which PostgreSQL might turn round: to all that have the words."""
    id = compiler.process(element.id, **options)
    parts, unwanted = (_list(one, compiler, **options) for one in (element.parts, element.unwanted))
    return (
        f"(SELECT {SPACED} LIKE ALL({parts}) AND NOT {SPACED} LIKE ANY({unwanted}) "
        f"FROM {status_words.name} WHERE status_id = {id})"
    )


class Newest(ColumnElement[bool]):
    """Whether a status is among the `window` newest whose words are those bound as `name` (give the values of `bound`).

    `older_than` and `newer_than` are bound as well. Words that most statuses have cost no more than rare ones: SQLite
    walks its index by age. PostgreSQL's has no order, so with `reach` the newest statuses are looked at themselves, so
    many of them; only words that are rare among these are asked of the index.
    """

    inherit_cache = False
    type = Boolean()

    def __init__(self, id: ColumnElement[Any], name: str, *, window: int, reach: int | None) -> None:
        self.id = id
        self.on_sqlite = bindparam(f"{name}_sqlite", type_=Text())
        self.on_postgres = bindparam(f"{name}_postgres", type_=Text())
        self.parts = bindparam(f"{name}_parts", type_=ListOf())
        self.bounds = [unplanned(bindparam(one, type_=ID)) for one in ("older_than", "newer_than")]
        # Written into the statement: PostgreSQL takes a length that it does not know for a tenth of everything.
        self.window, self.reach = window, reach


class MayBeMore(ColumnElement[bool]):
    """Whether others may have the words than those that were looked at."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, looked_at: Newest) -> None:
        self.looked_at = looked_at


@compiles(Newest, "sqlite")
def _newest_on_sqlite(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    return f"{compiler.process(element.id, **options)} IN ({_walked_index(element, compiler, **options)})"


@compiles(MayBeMore, "sqlite")
def _more_on_sqlite(element: MayBeMore, compiler: SQLCompiler, **options: object) -> str:
    found = _walked_index(element.looked_at, compiler, **options)
    return f"(SELECT count(*) FROM ({found})) >= {element.looked_at.window}"


def _walked_index(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    bind = compiler.process(element.on_sqlite, **options)
    older, newer = (compiler.process(one, **options) for one in element.bounds)
    index = f"{status_words.name}_index"
    return (
        f"SELECT rowid FROM {index} WHERE {index} MATCH {bind} AND rowid < {older} AND rowid > {newer} "
        f"ORDER BY rowid DESC LIMIT {element.window}"
    )


@compiles(Newest, "postgresql")
def _newest_on_postgres(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    id = compiler.process(element.id, **options)
    if element.reach is None:
        return f"{id} IN ({_asked_index(element, compiler, **options)})"
    # A text is taken apart into its words only where it has the letters of them.
    near = f"{_within(element, compiler, 'status_id, words', **options)} ORDER BY status_id DESC LIMIT {element.reach}"
    parts = _list(element.parts, compiler, **options)
    return (
        f"{id} IN (SELECT status_id FROM ({near}) AS near WHERE {SPACED} LIKE ALL({parts}) "
        f"AND {_has_words(element, compiler, **options)} ORDER BY status_id DESC LIMIT {element.window})"
    )


@compiles(MayBeMore, "postgresql")
def _more_on_postgres(element: MayBeMore, compiler: SQLCompiler, **options: object) -> str:
    """Who looked at the newest only has looked at all where there are no more of them than fit the window."""
    looked_at = element.looked_at
    if looked_at.reach is None:
        found = _asked_index(looked_at, compiler, **options)
    else:
        found = f"{_within(looked_at, compiler, 'status_id', **options)} LIMIT {looked_at.window}"
    return f"(SELECT count(*) FROM ({found}) AS found) >= {looked_at.window}"


def _asked_index(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    """OFFSET 0: the index is asked, and what it finds is put in order; never the other way round."""
    found = f"SELECT status_id FROM {status_words.name} WHERE {_has_words(element, compiler, **options)} OFFSET 0"
    bounds = _bounds(element, compiler, **options)
    return f"SELECT status_id FROM ({found}) AS found WHERE {bounds} ORDER BY status_id DESC LIMIT {element.window}"


def _within(element: Newest, compiler: SQLCompiler, columns: str, **options: object) -> str:
    return f"SELECT {columns} FROM {status_words.name} WHERE {_bounds(element, compiler, **options)}"


def _bounds(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    older, newer = (compiler.process(one, **options) for one in element.bounds)
    return f"status_id < {older} AND ROW(status_id, 0) > ROW({newer}, 0)"


def _has_words(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    wanted = compiler.process(unplanned(element.on_postgres), **options)
    return f"to_tsvector('simple', words) @@ to_tsquery('simple', {wanted})"


def _list(texts: ColumnElement[Any], compiler: SQLCompiler, **options: object) -> str:
    """As `unplanned`, for a list; the second cast says that it is one, not rows."""
    return f"CAST((SELECT CAST({compiler.process(texts, **options)} AS TEXT[])) AS TEXT[])"


def status_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(status_words, id, name)


def account_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(account_words, id, name)


def is_short(term: Term) -> bool:
    """Whether a text can be asked for all of it, not only for its beginning."""
    return len(_letters(term)) <= MOST_PART


def _pattern(term: Term) -> str:
    """As LIKE reads it: letters and digits with a space between them, as texts are kept."""
    return f"%{_letters(term)[:MOST_PART]}%"


def _letters(term: Term) -> str:
    return f" {' '.join(term.words)}{'' if term.is_open else ' '}"


def bound(name: str, terms: Sequence[Term], *, every: bool = True, without: Sequence[Term] = ()) -> dict[str, Any]:
    """All of the terms, or any of them; and none of those it is to be `without`."""
    on_sqlite, on_postgres = for_sqlite(terms, every=every), for_postgres(terms, every=every)
    if without:
        on_sqlite = f"({on_sqlite}) NOT ({for_sqlite(without, every=False)})"
        on_postgres = f"({on_postgres}) & !({for_postgres(without, every=False)})"
    parts = [_pattern(term) for term in terms]
    return {f"{name}_sqlite": on_sqlite, f"{name}_postgres": on_postgres, f"{name}_parts": parts}
