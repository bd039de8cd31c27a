"""What the statements of this room have in common: whom they are about."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, and_, bindparam, delete

from kith.base.db import Instant, Query, query

ME: BindParameter[Any] = bindparam("me")
OTHER: BindParameter[Any] = bindparam("other")
NOW = bindparam("now", type_=Instant())


def pair(table: Table) -> ColumnElement[bool]:
    """The row of `table` from me to the other."""
    return and_(table.c.account_id == ME, table.c.target_id == OTHER)


def drop(table: Table, row: type[Any]) -> Query[Any]:
    """Delete the row of `table` from me to the other, and give what it was."""
    return query(delete(table).where(pair(table)).returning(*table.c), row)
