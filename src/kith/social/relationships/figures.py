"""How many follows there are between people here and a domain, ever and by day, for the team's figures."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select

from kith.base.db import Instant, query
from kith.social.accounts.tables import accounts
from kith.social.days import day_of
from kith.social.relationships.tables import follows

_start, _end = bindparam("start", type_=Instant()), bindparam("end", type_=Instant())


def _with(column: ColumnElement[Any], *what: Any) -> Select[Any]:
    source = follows.join(accounts, accounts.c.id == column)
    return select(*what).select_from(source).where(accounts.c.domain == bindparam("about"))


def _by_day(column: ColumnElement[Any]) -> Select[Any]:
    day, at = day_of(follows.c.created_at), follows.c.created_at
    return _with(column, day, func.count()).where(and_(at >= _start, at < _end)).group_by(day)


# Whom people here follow there, and who follows people here from there.
FOLLOWED = query(_with(follows.c.target_id, func.count()), int)
FOLLOWED_BY_DAY = query(_by_day(follows.c.target_id), tuple)
FOLLOWERS = query(_with(follows.c.account_id, func.count()), int)
FOLLOWERS_BY_DAY = query(_by_day(follows.c.account_id), tuple)
# Accounts of a domain, those with the most followers here first.
_followed = func.count(follows.c.id)
MOST_FOLLOWED = query(
    select(accounts.c.username, _followed)
    .select_from(accounts.outerjoin(follows, follows.c.target_id == accounts.c.id))
    .where(and_(accounts.c.domain == bindparam("about"), accounts.c.deleted_at.is_(None)))
    .group_by(accounts.c.id, accounts.c.username)
    .order_by(_followed.desc(), accounts.c.username)
    .limit(bindparam("limit")),
    tuple,
)
