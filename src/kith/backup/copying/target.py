"""What both kinds of database have in common where rows are put into them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from kith.backup.copying.rows import CopiedTable, Row

__all__ = ["MARKS", "CopyTarget", "TableMark", "begin"]

MARKS = "kith_move"  # a table that is there until the last step


class TableMark(msgspec.Struct):
    """How far a table has come: the key of the last row, and how many rows."""

    after: list[Any]
    rows: int = 0
    is_done: bool = False


class CopyTarget(Protocol):
    """A database that is being filled. Its marks are of the same transaction as the rows they tell of."""

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What a row raises that cannot be put there."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """One within another can fail alone."""
        ...

    async def execute(self, statement: str) -> None: ...

    async def marks(self) -> dict[str, str] | None:
        """None where nothing has begun."""
        ...

    async def set_mark(self, name: str, value: str) -> None: ...

    async def make_tables(self) -> None: ...

    async def aside(self) -> list[tuple[str, str]]:
        """What is made again after the rows are there, because that is faster: how to drop it, and how to make it."""
        ...

    async def clear(self) -> None:
        """The rows that the migrations have put there; and no server starts there from now on."""
        ...

    async def put(self, table: CopiedTable, rows: Sequence[Row]) -> None: ...

    def words_of(self, refusal: Exception) -> str:
        """What is told of a row that it did not take."""
        ...

    async def put_numbers(self, last: dict[str, int]) -> None: ...

    async def count(self, table: str) -> int: ...

    async def check(self) -> None:
        """Whether everything that refers to something refers to what is there; raises `NotAsItWas`."""
        ...

    async def open_doors(self) -> None:
        """Servers can start there."""
        ...


async def begin(target: CopyTarget, source: str) -> None:
    """Tables without what is made again later. Whatever ends this early, it is done once more."""
    if await target.marks() is None:
        async with target.transaction():
            await target.execute(f"CREATE TABLE {MARKS} (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
            await target.set_mark("source", source)
    if "later" in (await target.marks() or {}):  # all of it was done
        return
    await target.make_tables()
    async with target.transaction():
        aside = await target.aside()
        for drop, _ in aside:
            await target.execute(drop)
        await target.clear()
        await target.set_mark("later", msgspec.json.encode([make for _, make in aside]).decode())
