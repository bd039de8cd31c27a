"""Lists around a status: who boosted or favourited it, who quoted it; and what somebody has planned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, select

from kith.base.db import alias_of
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.statuses import access
from kith.social.statuses.lines import A, S, StatusRow, lines
from kith.social.statuses.tables import PUBLIC, UNLISTED, Scheduled, favourites, scheduled, statuses


class MarkRow(NamedTuple):
    """Who did something to a status; `id` is that of what they did."""

    id: int
    account_id: AccountId


Reader = Callable[[Work, StatusId, AccountId | None, Cursor], Awaitable[list[MarkRow]]]

_who = alias_of(accounts, "who")
_is_shown = and_(_who.c.suspended_at.is_(None), _who.c.deleted_at.is_(None), _who.c.is_listed)


def _people(column: Any, account: Any, clause: Any, *, anonymous: bool) -> IdList:
    return IdList(
        select(column, account)
        .join(_who, _who.c.id == account)
        .where(and_(clause, _is_shown, rules.shows_author(None if anonymous else rules.ME, _who))),
        column,
        row=MarkRow,
    )


_favourited_by = {
    anonymous: _people(
        favourites.c.id, favourites.c.account_id, favourites.c.status_id == bindparam("status"), anonymous=anonymous
    )
    for anonymous in (False, True)
}
_reblogged_by = {
    anonymous: _people(
        statuses.c.id,
        statuses.c.account_id,
        and_(
            statuses.c.reblog_of_id == bindparam("status"),
            statuses.c.deleted_at.is_(None),
            statuses.c.visibility.in_((PUBLIC, UNLISTED)),
        ),
        anonymous=anonymous,
    )
    for anonymous in (False, True)
}
_quotes = IdList(
    lines(anonymous=False).where(
        and_(
            S.c.quoted_id == bindparam("status"),
            S.c.quote_state == "accepted",
            S.c.reblog_of_id.is_(None),
            rules.shows_author(rules.ME, A),
        )
    ),
    S.c.id,
    row=StatusRow,
)
_scheduled = IdList(select(scheduled).where(scheduled.c.account_id == access.ME), scheduled.c.id, row=Scheduled)


async def favourited_by(work: Work, status_id: StatusId, me: AccountId | None, cursor: Cursor) -> list[MarkRow]:
    return await _read(work, _favourited_by[me is None], status_id, me, cursor)


async def reblogged_by(work: Work, status_id: StatusId, me: AccountId | None, cursor: Cursor) -> list[MarkRow]:
    return await _read(work, _reblogged_by[me is None], status_id, me, cursor)


async def quotes_of(work: Work, status_id: StatusId, me: AccountId, cursor: Cursor) -> list[StatusRow]:
    return await _read(work, _quotes, status_id, me, cursor)


async def _read(work: Work, walk: IdList, status_id: StatusId, me: AccountId | None, cursor: Cursor) -> list[Any]:
    """Anybody may add to them what is not shown: quotes that nobody allows, marks of people who are shut out."""
    statement, params = walk.form(cursor)
    return cursor.newest_first(await work.db.slow(statement, status=status_id, me=me, now=work.now, **params))


async def scheduled_of(work: Work, me: AccountId, cursor: Cursor) -> list[Scheduled]:
    statement, params = _scheduled.form(cursor)
    return cursor.newest_first(await work.db.all(statement, me=me, **params))
