"""People as the team lists them: what of their records can be searched, narrowed and sorted by.

A list is either walked through in its order, or the few who are wanted are found by looking at all, and then sorted:
only what few are has an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, func, literal_column, or_, select, union
from sqlalchemy import Text as SQLText

from kith.base.db import UID, Instant
from kith.base.db.schema import RIGHT_NOW
from kith.identity.groups.tables import IS_MEMBER, members
from kith.identity.users.search import SHORTEST, HoldsWord, contains, rows_with
from kith.identity.users.tables import DISABLED, is_active, users

__all__ = [
    "ORDERS",
    "STATES",
    "has_role",
    "has_word",
    "has_words",
    "in_group",
    "is_type",
    "rows_with",
    "seen",
    "users",
    "word_values",
]

_waits, _unproven = users.c.approved_at.is_(None), users.c.confirmed_at.is_(None)
_over = union(select(users.c.id).where(DISABLED), select(users.c.id).where(users.c.expires <= RIGHT_NOW))
STATES: dict[str, ColumnElement[bool]] = {
    "active": and_(is_active(), ~_waits, ~_unproven),
    "pending": _waits,
    "unconfirmed": and_(_unproven, ~_waits),
    "disabled": and_(users.c.id.in_(_over), ~_waits),
}
ORDERS: dict[str, ColumnElement[Any]] = {
    "username": users.c.username,
    "name": users.c.name,
    "email": users.c.email,
    "joined": users.c.created_at,
    "seen": users.c.last_seen_at,
}
_never: ColumnElement[Any] = literal_column("'0001-01-01 00:00:00+00:00'", type_=Instant())
_nothing: ColumnElement[str] = literal_column("''")
_LAST = "\U0010ffff"


def has_word(name: str, kind: str) -> ColumnElement[bool]:
    """Whether a person has the word bound as `name`, of the kind that `word_values` tells."""
    if kind == "begins":
        first, last = bindparam(f"{name}_first", type_=SQLText()), bindparam(f"{name}_last", type_=SQLText())
        keys = (users.c.username_key, users.c.email_key)
        return or_(*(and_(key >= first, key < last) for key in keys))
    return HoldsWord(name)


def has_words(names: Sequence[str]) -> ColumnElement[bool]:
    """Whether a person has all these indexed words, for whoever walks through people in an order."""
    return contains(*names, in_order=True)


def word_values(name: str, word: str) -> tuple[str, dict[str, str]]:
    """How a word is looked for, and what to bind: one or two plain letters are the beginning of a name or address.

    Longer ones (`indexed`) are found with `rows_with`, or row by row where very many have them.
    """
    escaped = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    if len(word) >= SHORTEST:
        return "indexed", {name: f"%{escaped}%", f"{name}_words": word}
    if word.isascii():
        return "begins", {f"{name}_first": word.lower(), f"{name}_last": word.lower() + _LAST}
    return "held", {name: f"%{escaped}%"}


def has_role() -> ColumnElement[bool]:
    return func.coalesce(users.c.role, _nothing) == bindparam("base")


def is_type() -> ColumnElement[bool]:
    return users.c.type == bindparam("type")


def seen(*, since: bool) -> ColumnElement[bool]:
    """Whether they were here since the moment `seen_at`, or not since then; whoever never was counts as long ago."""
    at, last = bindparam("seen_at", type_=Instant()), func.coalesce(users.c.last_seen_at, _never, type_=Instant())
    return last >= at if since else last < at


def in_group() -> ColumnElement[bool]:
    group = bindparam("group", type_=UID())
    found = select(members.c.user_id).where(and_(members.c.group_uuid == group, IS_MEMBER))
    return users.c.id.in_(found)
