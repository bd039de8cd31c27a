"""Lists of statuses as queries: which ones, and in which versions, in one row each.

A row is short: the status and its author, and, where it is a boost, what it boosts and whose that is, each in its
version. All that is shown of them to everybody follows from these, so that a line that was made once is kept by its
row; what a line is made of (`Line`) is only read where it is not at hand.
Whoever makes a list says where it comes from and what narrows it; what may be seen is added here, always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.sql.selectable import FromClause

from kith.base.db import Query, Session, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import access
from kith.social.statuses.tables import statuses
from kith.social.walks import Walk

__all__ = ["TA", "WIDTH", "A", "Line", "Person", "Row", "S", "T", "Walk", "by_ids", "lines", "read", "unguarded"]

# The status (a boost, perhaps) and its author; its subject and the subject's author.
S, A = statuses.alias("s"), accounts.alias("a")
T, TA = statuses.alias("t"), accounts.alias("ta")

_VERSIONS: tuple[ColumnElement[Any], ...] = (
    S.c.id,
    S.c.version,
    A.c.version.label("author_version"),
    T.c.id.label("subject_id"),
    T.c.version.label("subject_version"),
    TA.c.version.label("subject_author_version"),
)
WIDTH = len(_VERSIONS)

_COUNTS = ("statuses_count", "followers_count", "following_count", "last_status_at")
_SUBJECT_COUNTS = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
_PARTS: tuple[ColumnElement[Any], ...] = (
    S.c.account_id,
    *(A.c[name].label(f"author_{name}") for name in _COUNTS),
    T.c.account_id.label("subject_account_id"),
    *(TA.c[name].label(f"subject_author_{name}") for name in _COUNTS),
    *(func.coalesce(T.c[name], S.c[name]).label(name) for name in _SUBJECT_COUNTS),
)

Row = tuple[Any, ...]


class Person(NamedTuple):
    """Whose it is: their version, and the counts that go with it."""

    id: AccountId
    version: int
    statuses: int
    followers: int
    following: int
    last: Any


class Line(NamedTuple):
    """What a line is made of. What is no boost is its own subject."""

    id: StatusId
    version: int
    author: Person
    subject_id: StatusId
    subject_version: int
    subject_author: Person
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int

    @property
    def is_boost(self) -> bool:
        return self.id != self.subject_id


def _line_of(row: Row) -> Line:
    id, version, author_version, subject_id, subject_version, subject_author_version = row[:WIDTH]
    parts = row[WIDTH:]
    author = Person(parts[0], author_version, *parts[1:5])
    if subject_id is None:
        return Line(id, version, author, id, version, author, *parts[10:])
    subject_author = Person(parts[5], subject_author_version, *parts[6:10])
    return Line(id, version, author, subject_id, subject_version, subject_author, *parts[10:])


def lines(source: FromClause = S, *more: ColumnElement[Any], anonymous: bool) -> Select[Any]:
    """The select every list is made of. `source` has `S` in it; `more` are columns that stand behind a row's own."""
    seen = and_(
        access.visible_for(S, A, anonymous=anonymous),
        or_(S.c.reblog_of_id.is_(None), access.visible_for(T, TA, anonymous=anonymous)),
    )
    return select(*_VERSIONS, *more).select_from(_joined(source)).where(seen)


def _joined(source: FromClause) -> FromClause:
    return (
        source.join(A, A.c.id == S.c.account_id)
        .outerjoin(T, T.c.id == S.c.reblog_of_id)
        .outerjoin(TA, TA.c.id == T.c.account_id)
    )


def unguarded() -> Query[Any]:
    """Given ones that are there, whoever may see them: for whoever has just had to do with them."""
    boosted = or_(S.c.reblog_of_id.is_(None), and_(T.c.id.is_not(None), T.c.deleted_at.is_(None)))
    clause = and_(any_of(S.c.id, "ids"), access.is_there(S, A), boosted)
    return query(select(*_VERSIONS).select_from(_joined(S)).where(clause), tuple, wire=True)


def by_ids(*, anonymous: bool) -> Query[Any]:
    """Given ones, as far as they may be seen, in no order."""
    return query(lines(anonymous=anonymous).where(any_of(S.c.id, "ids")), tuple, wire=True)


_of_ids = query(select(*_VERSIONS, *_PARTS).select_from(_joined(S)).where(any_of(S.c.id, "ids")), tuple, wire=True)


async def read(db: Session, ids: Sequence[int]) -> list[tuple[Row, Line]]:
    """What lines are made of, each with the row that it is kept by: a version may have grown meanwhile."""
    return [(row[:WIDTH], _line_of(row)) for row in await db.all(_of_ids, ids=list(ids))]
