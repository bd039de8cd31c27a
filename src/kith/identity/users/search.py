"""Finding people by a piece of their name, address or id, among very many.

SQLite keeps a table of trigrams beside the people, written by triggers; PostgreSQL an index of trigrams where it
has the extension. Both are made by a migration, and both answer the same question: which rows contain this word?
A word of one or two letters has no trigram and is looked for in every row.
"""

from __future__ import annotations

from sqlalchemy import Boolean, ColumnElement, bindparam, cast, func, literal_column
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
    """Whether a person's row contains the word bound as `name`."""

    inherit_cache = True
    type = Boolean()

    def __init__(self, name: str) -> None:
        self.words = bindparam(f"{name}_words", type_=SearchWords())
        self.pattern = bindparam(name, type_=SQLText())


@compiles(Contains, "sqlite")
def _sqlite(element: Contains, compiler: SQLCompiler, **options: object) -> str:
    bind = compiler.process(element.words, **options)
    return f"{users.name}.id IN (SELECT rowid FROM identity_users_search WHERE text MATCH {bind})"


@compiles(Contains, "postgresql")
def _postgres(element: Contains, compiler: SQLCompiler, **options: object) -> str:
    text = compiler.process(TEXT, **options)
    return f"{text} LIKE lower({compiler.process(element.pattern, **options)}) ESCAPE '!'"


def contains(name: str) -> Contains:
    return Contains(name)
