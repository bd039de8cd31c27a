"""Asking the index, in the language of whichever database there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Table, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kith.base.db import ID
from kith.social.search.tables import account_words, status_words
from kith.social.search.words import Term, for_postgres, for_sqlite


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


class Newest(ColumnElement[bool]):
    """Whether a status is among the `window` newest whose words are those bound as `name` (give the values of `bound`).

    `older_than` and `newer_than` are bound as well. Words that most statuses have cost no more than rare ones.
    """

    inherit_cache = True
    type = Boolean()

    def __init__(self, id: ColumnElement[Any], name: str) -> None:
        self.id = id
        self.on_sqlite = bindparam(f"{name}_sqlite", type_=Text())
        self.on_postgres = bindparam(f"{name}_postgres", type_=Text())
        self.bounds = [bindparam(one, type_=ID) for one in ("older_than", "newer_than", "window")]


@compiles(Newest, "sqlite")
def _newest_on_sqlite(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    id, bind = compiler.process(element.id, **options), compiler.process(element.on_sqlite, **options)
    older, newer, window = (compiler.process(one, **options) for one in element.bounds)
    index = f"{status_words.name}_index"
    return (
        f"{id} IN (SELECT rowid FROM {index} WHERE {index} MATCH {bind} AND rowid < {older} AND rowid > {newer} "
        f"ORDER BY rowid DESC LIMIT {window})"
    )


@compiles(Newest, "postgresql")
def _newest_on_postgres(element: Newest, compiler: SQLCompiler, **options: object) -> str:
    id, bind = compiler.process(element.id, **options), compiler.process(element.on_postgres, **options)
    older, newer, window = (compiler.process(one, **options) for one in element.bounds)
    return (
        f"{id} IN (SELECT status_id FROM {status_words.name} "
        f"WHERE to_tsvector('simple', words) @@ to_tsquery('simple', {bind}) "
        f"AND status_id < {older} AND status_id > {newer} ORDER BY status_id DESC LIMIT {window})"
    )


def status_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(status_words, id, name)


def account_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(account_words, id, name)


def bound(name: str, terms: Sequence[Term], *, every: bool = True, without: Sequence[Term] = ()) -> dict[str, str]:
    """All of the terms, or any of them; and none of those it is to be `without`."""
    on_sqlite, on_postgres = for_sqlite(terms, every=every), for_postgres(terms, every=every)
    if without:
        on_sqlite = f"({on_sqlite}) NOT ({for_sqlite(without, every=False)})"
        on_postgres = f"({on_postgres}) & !({for_postgres(without, every=False)})"
    return {f"{name}_sqlite": on_sqlite, f"{name}_postgres": on_postgres}
