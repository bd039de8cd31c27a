"""Lists of accounts as queries: which ones, in which versions and with which counts, in one row each."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, select
from sqlalchemy.sql.selectable import FromClause

from kith.base.db import any_of, query
from kith.social.accounts.tables import accounts

A = accounts.alias("a")
COLUMNS: tuple[ColumnElement[Any], ...] = (
    A.c.id,
    A.c.version,
    A.c.statuses_count,
    A.c.followers_count,
    A.c.following_count,
    A.c.last_status_at,
)
WIDTH = len(COLUMNS)


def lines(source: FromClause = A, *extra: ColumnElement[Any]) -> Select[Any]:
    """`source` has `A` in it; what is `extra` comes after the columns of a line."""
    return select(*COLUMNS, *extra).select_from(source)


_listed = and_(A.c.is_listed, A.c.deleted_at.is_(None))
by_id = query(lines(A, A.c.is_listed, A.c.deleted_at).where(A.c.id == bindparam("account")), tuple, wire=True)
by_ids = query(lines().where(and_(any_of(A.c.id, "ids"), _listed)), tuple, wire=True)
by_name = query(
    lines(A, A.c.is_listed, A.c.deleted_at).where(
        and_(A.c.username_key == bindparam("key"), A.c.domain == bindparam("domain"))
    ),
    tuple,
    wire=True,
)
