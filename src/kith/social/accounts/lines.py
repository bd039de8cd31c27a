"""Lists of accounts as queries: which ones, and in which versions, in one row each.

All that is shown of an account follows from its version, by which it is kept (`entities.WholeAccounts`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, select
from sqlalchemy.sql.selectable import FromClause

from kith.base.db import alias_of, any_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId

A = alias_of(accounts, "a")
COLUMNS: tuple[ColumnElement[Any], ...] = (A.c.id, A.c.version)


class AccountRow(NamedTuple):
    id: AccountId
    version: int


class CursorRow(NamedTuple):
    """One that a list is walked to by the id of something else, such as a follow."""

    id: AccountId
    version: int
    cursor: int


class StandingRow(NamedTuple):
    """One that may be missing for whoever asks."""

    id: AccountId
    version: int
    is_listed: bool
    deleted_at: datetime | str | None
    domain: str


def lines(source: FromClause = A, *extra: ColumnElement[Any]) -> Select[Any]:
    """`source` has `A` in it; what is `extra` comes after the columns of a line."""
    return select(*COLUMNS, *extra).select_from(source)


_listed = and_(A.c.is_listed, A.c.deleted_at.is_(None))
_standing = lines(A, A.c.is_listed, A.c.deleted_at, A.c.domain)
by_id = query(_standing.where(A.c.id == bindparam("account")), StandingRow, wire=True)
by_ids = query(lines().where(and_(any_of(A.c.id, "ids"), _listed)), AccountRow, wire=True)
by_name = query(
    _standing.where(and_(A.c.username_key == bindparam("key"), A.c.domain == bindparam("domain"))),
    StandingRow,
    wire=True,
)
