"""Lists of statuses as queries: which ones, and in which versions, in one row each.

A row is short: the status and its author, and, where it is a boost, what it boosts and whose that is, each in its
version. All that is shown of them to everybody follows from these, so that a line that was made once is kept by its
row; what a line is made of (`StatusLine`) is only read where it is not at hand.
Whoever makes a list says where it comes from and what narrows it; what may be seen is added here, always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.sql.selectable import FromClause

from kith.base.db import Query, Session, alias_of, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import access
from kith.social.statuses.tables import statuses

__all__ = [
    "TA",
    "A",
    "Key",
    "MarkedRow",
    "Row",
    "S",
    "StatusLine",
    "StatusRow",
    "T",
    "by_ids",
    "key_of",
    "lines",
    "read",
    "unguarded",
]

# The status (a boost, perhaps) and its author; its subject and the subject's author.
S, A = alias_of(statuses, "s"), alias_of(accounts, "a")
T, TA = alias_of(statuses, "t"), alias_of(accounts, "ta")

_VERSIONS: tuple[ColumnElement[Any], ...] = (
    S.c.id,
    S.c.version,
    A.c.version.label("author_version"),
    T.c.id.label("subject_id"),
    T.c.version.label("subject_version"),
    TA.c.version.label("subject_author_version"),
)


class StatusRow(NamedTuple):
    """A status in a list. Its subject is what it boosts, and None where it is no boost."""

    id: StatusId
    version: int
    author_version: int
    subject_id: StatusId | None
    subject_version: int | None
    subject_author_version: int | None


class MarkedRow(NamedTuple):
    """A status that a list is walked to by the id of a mark, such as a favourite."""

    id: StatusId
    version: int
    author_version: int
    subject_id: StatusId | None
    subject_version: int | None
    subject_author_version: int | None
    cursor: int


Row = StatusRow | MarkedRow
Key = tuple[int | None, ...]
_WIDTH = len(StatusRow._fields)


def key_of(row: Row) -> Key:
    """The versions of all that is shown of a status: what was made of it is kept by them."""
    return row[:_WIDTH]


class StatusLine(NamedTuple):
    """What a line is made of. What is no boost is its own subject."""

    id: StatusId
    version: int
    author_version: int
    subject_id: StatusId
    subject_version: int
    subject_author_version: int
    account_id: AccountId
    subject_account_id: AccountId
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int

    @property
    def is_boost(self) -> bool:
        return self.id != self.subject_id


_COUNTS = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")
_PARTS: tuple[ColumnElement[Any], ...] = (
    S.c.account_id,
    T.c.account_id.label("subject_account_id"),
    *(func.coalesce(T.c[name], S.c[name]).label(name) for name in _COUNTS),
)


def _own_subject(line: StatusLine) -> StatusLine:
    """A line as it is made, of one as it is read."""
    if line.subject_id is not None:
        return line
    return line._replace(
        subject_id=line.id,
        subject_version=line.version,
        subject_author_version=line.author_version,
        subject_account_id=line.account_id,
    )


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


def unguarded() -> Query[StatusRow]:
    """Given ones that are there, whoever may see them: for whoever has just had to do with them."""
    boosted = or_(S.c.reblog_of_id.is_(None), and_(T.c.id.is_not(None), T.c.deleted_at.is_(None)))
    clause = and_(any_of(S.c.id, "ids"), access.is_there(S, A), boosted)
    return query(select(*_VERSIONS).select_from(_joined(S)).where(clause), StatusRow, wire=True)


def by_ids(*, anonymous: bool) -> Query[StatusRow]:
    """Given ones, as far as they may be seen, in no order."""
    return query(lines(anonymous=anonymous).where(any_of(S.c.id, "ids")), StatusRow, wire=True)


_of_ids = query(select(*_VERSIONS, *_PARTS).select_from(_joined(S)).where(any_of(S.c.id, "ids")), StatusLine, wire=True)


async def read(db: Session, ids: Sequence[int]) -> list[tuple[Key, StatusLine]]:
    """What lines are made of, each with the versions that it is kept by: they may have grown meanwhile."""
    return [(line[:_WIDTH], _own_subject(line)) for line in await db.all(_of_ids, ids=list(ids))]
