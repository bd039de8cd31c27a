"""What a store may do with a database, whichever it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from kith.base.db.statement import Command, Query

Row = TypeVar("Row")


class Session(Protocol):
    """One unit of work on a database.

    Reads before the first write see what is committed, each on its own; the first write (or `begin`) opens
    the transaction, and from then on reads see the session's own writes. On SQLite a session that has begun
    holds the only pen: never wait for the outside world between the first write and the end.

    `when_begun` is asked each time the transaction was opened, before anything else is done in it: that is to wait for
    others, who may have changed what was read before.
    """

    when_begun: Callable[[], Awaitable[None]] | None

    @property
    def is_writing(self) -> bool:
        """Whether the transaction is open."""
        ...

    def let_lag(self) -> None:
        """Reads before the first write may come from a read replica, where there is one that keeps up."""
        ...

    async def all(self, query: Query[Row], /, **params: Any) -> list[Row]: ...

    async def one(self, query: Query[Row], /, **params: Any) -> Row | None: ...

    async def slow(self, query: Query[Row], /, **params: Any) -> list[Row]:
        """A read that may take over 5 ms: it runs beside the loop, on committed data."""
        ...

    async def run(self, command: Command, /, **params: Any) -> int: ...

    async def many(self, command: Command, rows: Sequence[Mapping[str, Any]], /) -> None: ...

    async def begin(self) -> None:
        """Open the transaction now, so that what is read next cannot change before it is written."""
        ...

    async def hold(self, subject: str) -> None:
        """Wait until nobody else holds `subject`, and hold it to the end: for rules no single row can keep."""
        ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """A part that may fail alone: an exception undoes it and passes on, the session lives."""
        ...

    async def commit(self) -> None: ...

    async def rollback(self) -> None: ...


class Database(Protocol):
    """An opened database. `dialect` is `sqlite` or `postgresql`."""

    dialect: str

    def session(self) -> Session: ...

    def version(self) -> int | None:
        """A number that changes with every commit of anyone; None where asking would cost too much."""
        ...

    def connections(self) -> dict[str, int]:
        """How many are lent, how many are free, and how many wait for one."""
        ...

    async def size(self) -> int:
        """Bytes on disk."""
        ...

    async def revision(self) -> str | None:
        """The migration the database stands at, None for an empty one."""
        ...

    async def close(self) -> None: ...
