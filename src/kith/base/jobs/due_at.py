"""When a new job is due, by whose clock."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from kith.base.db import Instant

__all__ = ["DueAt"]


class DueAt(ColumnElement[Any]):
    """When a new job is due. Servers whose clocks are ahead would have everybody wait: the database's clock counts."""

    inherit_cache = True
    type = Instant()

    def __init__(self) -> None:
        self.run_at, self.created_at = (bindparam(name, type_=Instant()) for name in ("run_at", "created_at"))


@compiles(DueAt, "sqlite")
def _due_at_by_own_clock(element: DueAt, compiler: SQLCompiler, **options: object) -> str:
    return compiler.process(element.run_at, **options)


@compiles(DueAt, "postgresql")
def _due_at_by_its_clock(element: DueAt, compiler: SQLCompiler, **options: object) -> str:
    run_at, made = (
        f"CAST({compiler.process(one, **options)} AS TIMESTAMP WITH TIME ZONE)"
        for one in (element.run_at, element.created_at)
    )
    return f"LEAST({run_at}, statement_timestamp() + ({run_at} - {made}))"
