"""Lists that are walked along ids, for whichever room has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import ColumnElement, Select, bindparam, literal_column, select

from kith.base.db import Query, above_floor, query, rows_as_json, unplanned
from kith.base.paging import Cursor

# Lengths of pages that are asked for all day, written into the statement: PostgreSQL takes a length it does not know
# for a tenth of everything, and would plan anew with every page.
_USUAL = frozenset((20, 40, 80))


class _Form(NamedTuple):
    has_top: bool
    has_floor: bool
    is_ascending: bool
    length: int | None
    as_page: bool


class IdList:
    """A list in its forms: newest or oldest first, from a floor or not, as rows or as one row that holds all of them
    as JSON (`page_form`). Each is made when it is first asked for.

    So is the statement itself, where it is given as a function. `row` is what its rows are; a tuple, with names or
    without, is for the wire.
    """

    def __init__(
        self,
        statement: Select[Any] | Callable[[], Select[Any]],
        column: ColumnElement[Any],
        *,
        row: type[msgspec.Struct] | type[tuple[Any, ...]] = tuple,
        beside: tuple[ColumnElement[Any], ...] = (),
    ) -> None:
        self._statement = statement
        self._column = column
        self._row = row
        self._beside = beside
        self._queries: dict[_Form, Query[Any]] = {}

    def form(self, cursor: Cursor) -> tuple[Query[Any], dict[str, Any]]:
        """The query for a cursor, and its parameters."""
        return self._form(cursor, as_page=False)

    def page_form(self, cursor: Cursor) -> tuple[Query[Any], dict[str, Any]]:
        """The same for one row: the list as JSON, and what there is `beside` it."""
        return self._form(cursor, as_page=True)

    def _form(self, cursor: Cursor, *, as_page: bool) -> tuple[Query[Any], dict[str, Any]]:
        length = cursor.limit if cursor.limit in _USUAL else None
        wanted = _Form(cursor.max_id is not None, cursor.floor is not None, cursor.is_ascending, length, as_page)
        found = self._queries.get(wanted)
        if found is None:
            found = self._queries[wanted] = self._make(*wanted)
        return found, {"max_id": cursor.max_id, "floor": cursor.floor, "limit": cursor.limit}

    def _make(self, has_top: bool, has_floor: bool, ascending: bool, length: int | None, as_page: bool) -> Query[Any]:
        if not isinstance(self._statement, Select):
            self._statement = self._statement()
        narrowed, column = self._statement, self._column
        if has_top:
            narrowed = narrowed.where(column < unplanned(bindparam("max_id", type_=column.type)))
        if has_floor:
            floor = unplanned(bindparam("floor", type_=column.type))
            narrowed = narrowed.where(above_floor(column, floor) if has_top else column > floor)
        order = column.asc() if ascending else column.desc()
        limit: ColumnElement[Any] = bindparam("limit") if length is None else literal_column(str(length))
        found = narrowed.order_by(order).limit(limit)
        if as_page:
            page = found.subquery("page")
            return query(select(rows_as_json(page), *self._beside).select_from(page), tuple, wire=True)
        return query(found, self._row, wire=issubclass(self._row, tuple))
