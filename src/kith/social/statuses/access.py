"""Who may see which status: one clause per rule, used by every query that can show one.

`me` is the viewer's account, bound under that name; anonymous visitors have clauses of their own. A clause is made
for a given alias of the statuses and of their authors, so that a boost and what it boosts are both asked.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, FromClause, and_, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from kith.base.db import alias_of, any_row
from kith.social.accounts import access as accounts
from kith.social.relationships import rules
from kith.social.relationships.rules import ME, Clause
from kith.social.statuses.tables import DIRECT, LIMITED, PRIVATE, PUBLIC, UNLISTED, mentions

__all__ = [
    "ME",
    "Clause",
    "is_heard",
    "is_no_boost",
    "is_there",
    "mentions_me",
    "shown_to",
    "visible",
    "visible_for",
    "visible_to_anyone",
]


def shown_to(status: FromClause, *visibilities: int) -> Clause:
    """One of these. They are written into the statement, where the database can reckon with them."""
    numbers: list[ColumnElement[Any]] = [literal_column(str(one)) for one in visibilities]
    return status.c.visibility == numbers[0] if len(numbers) == 1 else status.c.visibility.in_(numbers)


class is_no_boost(FunctionElement[bool]):  # noqa: N801 - reads as a clause
    """Said as the indexes of public statuses say it, and no other: SQLite would begin with all that are no boosts."""

    type = Boolean()
    inherit_cache = True


@compiles(is_no_boost)
def _is_null(element: is_no_boost, compiler: SQLCompiler, **options: Any) -> str:
    return f"{compiler.process(element.clauses, **options)} IS NULL"


@compiles(is_no_boost, "sqlite")
def _is_nothing(element: is_no_boost, compiler: SQLCompiler, **options: Any) -> str:
    return f"coalesce({compiler.process(element.clauses, **options)}, 0) = 0"


def is_there(status: FromClause, author: FromClause) -> Clause:
    """Not deleted, by somebody who is neither suspended nor waiting to be let in."""
    return and_(status.c.deleted_at.is_(None), accounts.is_there(author))


def visible_to_anyone(status: FromClause, author: FromClause) -> Clause:
    return and_(is_there(status, author), shown_to(status, PUBLIC, UNLISTED))


def visible(status: FromClause, author: FromClause) -> Clause:
    """Own ones; open ones unless the author blocks me; followers' ones if I follow; any that mention me."""
    mine: Any = status.c.account_id == ME
    reaches = or_(
        shown_to(status, PUBLIC, UNLISTED), and_(shown_to(status, PRIVATE), rules.follows(ME, status.c.account_id))
    )
    addressed = and_(shown_to(status, PRIVATE, DIRECT, LIMITED), mentions_me(status.c.id))
    return and_(
        is_there(status, author), or_(mine, and_(~rules.blocks(status.c.account_id, ME), or_(reaches, addressed)))
    )


def visible_for(status: FromClause, author: FromClause, *, anonymous: bool) -> Clause:
    return visible_to_anyone(status, author) if anonymous else visible(status, author)


def is_heard(author: FromClause, *, anonymous: bool) -> Clause:
    """In threads and in search. Whoever is limited is heard there by themselves and by those who follow them."""
    unlimited = author.c.silenced_at.is_(None)
    return unlimited if anonymous else or_(unlimited, author.c.id == ME, rules.follows(ME, author.c.id))


def mentions_me(status_id: ColumnElement[Any]) -> Clause:
    own = alias_of(mentions)
    return any_row(own, and_(own.c.status_id == status_id, own.c.account_id == ME))
