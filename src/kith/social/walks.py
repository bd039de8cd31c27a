"""Lists that are walked along ids, for whichever room has one."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, bindparam

from kith.base.db import Query, query
from kith.base.paging import Cursor


class Walk:
    """A list in its forms: newest or oldest first, from a floor or not."""

    def __init__(
        self, statement: Select[Any], column: ColumnElement[Any], *, row: type[msgspec.Struct] | None = None
    ) -> None:
        below = column < bindparam("max_id")
        above = column > bindparam("floor")
        self._queries: dict[tuple[bool, bool, bool], Query[Any]] = {}
        for has_top in (False, True):
            for has_floor in (False, True):
                for ascending in (False, True):
                    narrowed = statement
                    if has_top:
                        narrowed = narrowed.where(below)
                    if has_floor:
                        narrowed = narrowed.where(above)
                    order = column.asc() if ascending else column.desc()
                    self._queries[has_top, has_floor, ascending] = query(
                        narrowed.order_by(order).limit(bindparam("limit")), row or tuple, wire=row is None
                    )

    def form(self, cursor: Cursor) -> tuple[Query[Any], dict[str, Any]]:
        """The query for a cursor, and its parameters."""
        wanted = (cursor.max_id is not None, cursor.floor is not None, cursor.is_ascending)
        return self._queries[wanted], {"max_id": cursor.max_id, "floor": cursor.floor, "limit": cursor.limit}
