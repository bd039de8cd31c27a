"""The day of a moment, in statements: `2026-11-16`, in UTC, on both databases; and its month, a number."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Integer, String, cast, func, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class day_of(FunctionElement[str]):  # noqa: N801 - reads as a clause
    type = String()
    inherit_cache = True


@compiles(day_of, "sqlite")
def _sqlite_day(element: day_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"substr({compiler.process(element.clauses, **options)}, 1, 10)"


@compiles(day_of, "postgresql")
def _postgres_day(element: day_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"to_char({compiler.process(element.clauses, **options)} AT TIME ZONE 'UTC', 'YYYY-MM-DD')"


def month_of(moment: ColumnElement[Any]) -> ColumnElement[int]:
    return cast(func.substr(day_of(moment), literal_column("6"), literal_column("2")), Integer)
