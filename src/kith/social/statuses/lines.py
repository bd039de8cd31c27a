"""Lists of statuses as queries: which ones, and in which versions, in one row each.

A row tells of the status itself and, where it is a boost, of what it boosts, which is its subject then. All that is
shown of them to everybody follows from the row, so that a rendered line can be kept by it.
Whoever makes a list says where it comes from and what narrows it; what may be seen is added here, always.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.sql.selectable import FromClause

from kith.base.db import Query, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.statuses import access
from kith.social.statuses.tables import statuses
from kith.social.walks import Walk

__all__ = [
    "TA", "WIDTH", "A", "Line", "Row", "S", "T", "Walk", "author_of", "by_ids", "line_of", "lines", "unguarded",
]  # fmt: skip

# The status (a boost, perhaps) and its author; its subject and the subject's author.
S, A = statuses.alias("s"), accounts.alias("a")
T, TA = statuses.alias("t"), accounts.alias("ta")

_COUNTS = ("statuses_count", "followers_count", "following_count", "last_status_at")
_COLUMNS: tuple[ColumnElement[Any], ...] = (
    S.c.id,
    S.c.version,
    S.c.account_id,
    A.c.version.label("author_version"),
    *(A.c[name].label(f"author_{name}") for name in _COUNTS),
    T.c.id.label("subject_id"),
    T.c.version.label("subject_version"),
    T.c.account_id.label("subject_account_id"),
    TA.c.version.label("subject_author_version"),
    *(TA.c[name].label(f"subject_author_{name}") for name in _COUNTS),
    *(
        func.coalesce(T.c[name], S.c[name]).label(name)
        for name in ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
    ),
)
WIDTH = len(_COLUMNS)
_SUBJECT = 8  # where the subject begins in a row

Row = tuple[Any, ...]


class Line(NamedTuple):
    """One status of a list: its version and its author's, and the counts that go with them.

    What is no boost is its own subject.
    """

    id: int
    version: int
    account_id: int
    author_version: int
    author_statuses: int
    author_followers: int
    author_following: int
    author_last: Any
    subject_id: int
    subject_version: int
    subject_account_id: int
    subject_author_version: int
    subject_author_statuses: int
    subject_author_followers: int
    subject_author_following: int
    subject_author_last: Any
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int


def line_of(row: Row) -> Line:
    return Line(*row) if row[_SUBJECT] is not None else Line(*row[:8], *row[:8], *row[16:])


def author_of(row: Row) -> int:
    """The account of what is boosted, or of the status itself."""
    boosted: int | None = row[_SUBJECT + 2]
    return row[2] if boosted is None else boosted


def lines(source: FromClause = S, *more: ColumnElement[Any], anonymous: bool) -> Select[Any]:
    """The select every list is made of. `source` has `S` in it; `more` are columns that stand behind a line's own."""
    seen = and_(
        access.visible_for(S, A, anonymous=anonymous),
        or_(S.c.reblog_of_id.is_(None), access.visible_for(T, TA, anonymous=anonymous)),
    )
    return select(*_COLUMNS, *more).select_from(_joined(source)).where(seen)


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
    return query(select(*_COLUMNS).select_from(_joined(S)).where(clause), tuple, wire=True)


def by_ids(*, anonymous: bool) -> Query[Any]:
    """Given ones, as far as they may be seen, in no order."""
    return query(lines(anonymous=anonymous).where(any_of(S.c.id, "ids")), tuple, wire=True)
