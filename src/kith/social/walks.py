"""Lists that are walked along ids, for whichever room has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, bindparam, literal_column

from kith.base.db import Query, query
from kith.base.paging import Cursor

# Lengths of pages that are asked for all day, written into the statement: PostgreSQL takes a length it does not know
# for a tenth of everything, and would plan anew with every page.
_USUAL = frozenset((20, 40, 80))


class Walk:
    """A list in its forms: newest or oldest first, from a floor or not. Each is made when it is first asked for.

    So is the statement itself, where it is given as a function.
    """

    def __init__(
        self,
        statement: Select[Any] | Callable[[], Select[Any]],
        column: ColumnElement[Any],
        *,
        row: type[msgspec.Struct] | None = None,
    ) -> None:
        self._statement = statement
        self._column = column
        self._row = row
        self._queries: dict[tuple[bool, bool, bool, int | None], Query[Any]] = {}

    def form(self, cursor: Cursor) -> tuple[Query[Any], dict[str, Any]]:
        """The query for a cursor, and its parameters."""
        length = cursor.limit if cursor.limit in _USUAL else None
        wanted = (cursor.max_id is not None, cursor.floor is not None, cursor.is_ascending, length)
        found = self._queries.get(wanted)
        if found is None:
            found = self._queries[wanted] = self._make(*wanted)
        return found, {"max_id": cursor.max_id, "floor": cursor.floor, "limit": cursor.limit}

    def _make(self, has_top: bool, has_floor: bool, ascending: bool, length: int | None) -> Query[Any]:
        if not isinstance(self._statement, Select):
            self._statement = self._statement()
        narrowed, column = self._statement, self._column
        if has_top:
            narrowed = narrowed.where(column < bindparam("max_id"))
        if has_floor:
            narrowed = narrowed.where(column > bindparam("floor"))
        order = column.asc() if ascending else column.desc()
        limit: ColumnElement[Any] = bindparam("limit") if length is None else literal_column(str(length))
        return query(narrowed.order_by(order).limit(limit), self._row or tuple, wire=self._row is None)
