"""Asking the index, in the language of whichever database there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Table, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

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


def status_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(status_words, id, name)


def account_matches(id: ColumnElement[Any], name: str) -> Matches:
    return Matches(account_words, id, name)


def bound(name: str, terms: Sequence[Term], *, every: bool = True) -> dict[str, str]:
    """All of the terms, or any of them."""
    return {
        f"{name}_sqlite": for_sqlite(terms, every=every),
        f"{name}_postgres": for_postgres(terms, every=every),
    }
