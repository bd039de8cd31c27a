"""Whether an account is there to be seen, by anybody."""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, and_


def is_there(person: FromClause) -> ColumnElement[bool]:
    """Neither suspended, nor gone, nor waiting to be let in."""
    return and_(person.c.suspended_at.is_(None), person.c.deleted_at.is_(None), person.c.is_listed)
