"""Finding people by a piece of their name, address or id, among very many.

SQLite keeps a table of trigrams beside the people, written by triggers; PostgreSQL an index of trigrams where it
has the extension. Both are made by a migration, and both answer the same question: which rows contain this word?
A word of one or two letters has no trigram and is looked for in every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Integer,
    Select,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
)
from sqlalchemy import Text as SQLText
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kith.base.db.schema import SearchWords
from kith.identity.users.tables import users

SHORTEST = 3
_break: ColumnElement[str] = literal_column("chr(10)")
TEXT = func.lower(
    users.c.username + _break + users.c.name + _break + users.c.email + _break + cast(users.c.uuid, SQLText)
)


class Contains(ColumnElement[bool]):
    """Whether a person's row contains all words bound under `names`: on SQLite they are looked for together.

    `in_order`: whoever asks walks through people in an order that has an index, and wants a few.
    """

    inherit_cache = True
    type = Boolean()

    def __init__(self, names: Sequence[str], *, in_order: bool = False) -> None:
        self.words = [bindparam(f"{name}_words", type_=SearchWords()) for name in names]
        self.patterns = [bindparam(name, type_=SQLText()) for name in names]
        self.in_order = in_order


@compiles(Contains, "sqlite")
def _sqlite(element: Contains, compiler: SQLCompiler, **options: object) -> str:
    """With a plus the list of those who have the words is no reason to leave the order."""
    words = " AND ".join(f"text MATCH {compiler.process(bind, **options)}" for bind in element.words)
    sign = "+" if element.in_order else ""
    return f"{sign}{users.name}.id IN (SELECT rowid FROM identity_users_search WHERE {words})"


@compiles(Contains, "postgresql")
def _postgres(element: Contains, compiler: SQLCompiler, **options: object) -> str:
    text = compiler.process(TEXT, **options)
    likes = (f"{text} LIKE lower({compiler.process(bind, **options)}) ESCAPE '!'" for bind in element.patterns)
    return f"({' AND '.join(likes)})"


def contains(*names: str, in_order: bool = False) -> Contains:
    return Contains(names, in_order=in_order)


class ContainsPart(ColumnElement[bool]):
    """The same for a word that is too short for the index."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, name: str) -> None:
        self.pattern = bindparam(name, type_=SQLText())


@compiles(ContainsPart, "sqlite")
def _sqlite_part(element: ContainsPart, compiler: SQLCompiler, **options: object) -> str:
    """The text beside the index is less to read than whole people."""
    bind = compiler.process(element.pattern, **options)
    return f"{users.name}.id IN (SELECT rowid FROM identity_users_search WHERE text LIKE {bind} ESCAPE '!')"


@compiles(ContainsPart, "postgresql")
def _postgres_part(element: ContainsPart, compiler: SQLCompiler, **options: object) -> str:
    text = compiler.process(TEXT, **options)
    return f"{text} LIKE lower({compiler.process(element.pattern, **options)}) ESCAPE '!'"


def contains_part(name: str) -> ContainsPart:
    return ContainsPart(name)


class HoldsWord(ColumnElement[bool]):
    """The same, asked of one row after the other: for words that so many have that their list would be long."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, name: str) -> None:
        self.pattern = bindparam(name, type_=SQLText())


@compiles(HoldsWord, "sqlite")
def _sqlite_row(element: HoldsWord, compiler: SQLCompiler, **options: object) -> str:
    of = users.name
    text = f"{of}.username || char(10) || {of}.name || char(10) || {of}.email"
    return f"({text}) LIKE {compiler.process(element.pattern, **options)} ESCAPE '!'"


@compiles(HoldsWord, "postgresql")
def _postgres_row(element: HoldsWord, compiler: SQLCompiler, **options: object) -> str:
    text = compiler.process(TEXT, **options)
    return f"{text} LIKE lower({compiler.process(element.pattern, **options)}) ESCAPE '!'"


def rows_with(names: Sequence[str], *, is_sqlite: bool) -> Select[Any]:
    """The ids of people whose rows contain all the words bound under these names, in no order.

    The index gives one after the other, so that a limit ends the search.
    """
    if not is_sqlite:
        return select(users.c.id).where(contains(*names))
    index = table("identity_users_search", column("rowid", Integer()), column("text", SQLText()))
    words = (index.c.text.op("MATCH")(bindparam(f"{name}_words", type_=SearchWords())) for name in names)
    return select(index.c.rowid).where(*words)
