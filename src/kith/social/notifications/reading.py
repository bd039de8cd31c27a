"""Somebody's notifications as rows: which ones, and the versions of all that is shown of them.

A row tells nothing else, for what was made of it is kept by it (`entities`); what a notification itself says never
changes, and is read where it is not at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, case, func, literal_column, null, or_, select

from kith.base.caches import UntilWritten
from kith.base.db import Session, alias_of, any_of, query
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.notifications.tables import notifications
from kith.social.statuses import access
from kith.social.statuses.lines import TA, A, S, StatusRow, T

__all__ = ["MINE", "ROW", "SOURCE", "NotificationRow", "NotificationText", "find", "page_of", "words_of"]

KEY_BYTES = 500  # what a key of a page takes besides its texts
N = notifications
_from = alias_of(accounts, "f")  # whom it is from
_own = alias_of(accounts, "own")  # who reads
_my_version = select(_own.c.version).where(_own.c.id == access.ME).scalar_subquery()


class NotificationRow(NamedTuple):
    """`status_id` is what it is about, if it is about a status; the versions are there if the reader may see that."""

    id: int
    filtered: int  # 1 where it is so
    from_id: AccountId
    from_version: int
    status_id: StatusId | None = None
    status_version: int | None = None
    author_version: int | None = None
    subject_id: StatusId | None = None
    subject_version: int | None = None
    subject_author_version: int | None = None
    about_id: int | None = None  # where it is about something else, such as a report

    @property
    def status(self) -> StatusRow | None:
        """The row of the status, as lists of statuses have it."""
        if self.status_id is None or self.status_version is None or self.author_version is None:
            return None
        return StatusRow(self.status_id, self.status_version, self.author_version, *self[7:10])

    @property
    def is_shown(self) -> bool:
        return self.status_id is None or self.status_version is not None


class NotificationText(NamedTuple):
    """What a notification itself says."""

    id: int
    type: str
    group_key: str
    created_at: datetime | str


# Most are about one's own statuses, whose author is known: nobody else is looked up then.
SOURCE = (
    N.join(_from, _from.c.id == N.c.from_id)
    .outerjoin(S, S.c.id == N.c.status_id)
    .outerjoin(A, A.c.id == func.nullif(S.c.account_id, access.ME))
    .outerjoin(T, T.c.id == S.c.reblog_of_id)
    .outerjoin(TA, TA.c.id == T.c.account_id)
)
_is_seen = and_(
    S.c.deleted_at.is_(None),
    or_(S.c.account_id == access.ME, access.visible_for(S, A, anonymous=False)),
    or_(S.c.reblog_of_id.is_(None), access.visible_for(T, TA, anonymous=False)),
)
ROW: tuple[Any, ...] = (
    N.c.id,
    case((N.c.filtered, literal_column("1")), else_=literal_column("0")).label("filtered"),
    N.c.from_id,
    _from.c.version.label("from_version"),
    N.c.status_id,
    case((_is_seen, S.c.version), else_=null()).label("status_version"),
    func.coalesce(A.c.version, _my_version).label("author_version"),
    T.c.id.label("subject_id"),
    T.c.version.label("subject_version"),
    TA.c.version.label("subject_author_version"),
    N.c.subject_id.label("about_id"),
)
MINE = and_(N.c.account_id == access.ME, is_there(_from))


def _walk(*, filtered: bool, of_one: bool, of_types: bool) -> IdList:
    clauses: list[Any] = [MINE]
    if of_types:
        clauses.append(any_of(N.c.type, "types"))
    if not filtered:
        clauses.append(~N.c.filtered)
    if of_one:
        clauses.append(N.c.from_id == bindparam("from_id"))
    return IdList(lambda: select(*ROW).select_from(SOURCE).where(and_(*clauses)), N.c.id, row=NotificationRow)


_BOTH = (False, True)
_walks = {
    (filtered, of_one, of_types): _walk(filtered=filtered, of_one=of_one, of_types=of_types)
    for filtered in _BOTH
    for of_one in _BOTH
    for of_types in _BOTH
}
_one = query(
    lambda: select(*ROW).select_from(SOURCE).where(and_(MINE, N.c.id == bindparam("id"))), NotificationRow, wire=True
)
_words = query(
    lambda: select(N.c.id, N.c.type, N.c.group_key, N.c.created_at).where(any_of(N.c.id, "ids")),
    NotificationText,
    wire=True,
)


async def page_of(
    work: Work,
    me: AccountId,
    cursor: Cursor,
    *,
    types: Sequence[str] | None,
    from_id: AccountId | None,
    filtered: bool,
) -> str | None:
    """Rows as JSON; None where there are none. `types`: None for all.

    No moment decides what is in them, so that they are kept while nobody writes.
    """
    kept, place = work.find(UntilWritten), (cursor.max_id, cursor.since_id, cursor.min_id, cursor.limit)
    key = ("notifications", me, place, None if types is None else tuple(types), from_id, filtered)
    version = kept.now()
    rows: str | None = None if version is None else kept.get(version, key)
    if rows is None:
        walk = _walks[filtered or from_id is not None, from_id is not None, types is not None]
        statement, params = walk.page_form(cursor)
        wanted = None if types is None else list(types)
        # There may be far to walk past what is of other types, or of other people.
        ask = work.db.all if types is None and from_id is None else work.db.slow
        [[rows]] = await ask(statement, me=me, types=wanted, from_id=from_id, **params)
        kept.put(version, key, rows, size=len(rows or "") + KEY_BYTES)
    return rows


async def find(db: Session, me: AccountId, id: int) -> NotificationRow | None:
    return await db.one(_one, me=me, id=id)


async def words_of(db: Session, ids: Sequence[int]) -> dict[int, NotificationText]:
    return {words.id: words for words in await db.all(_words, ids=list(ids))}
