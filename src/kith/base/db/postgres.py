"""PostgreSQL through asyncpg: connections that are lent, and statements the server prepares once per connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from kith.base import asking
from kith.base.db import writing
from kith.base.db.errors import Dangling, Taken, columns_of
from kith.base.db.figures import noted
from kith.base.db.lender import Lender
from kith.base.db.statement import Command, Query
from kith.base.errors import Malformed, NoSpace, Unavailable
from kith.base.places import Full

if TYPE_CHECKING:
    from kith.base.db.replicas import Replica, Replicas

Row = TypeVar("Row")
SLOW_SECONDS = 30.0  # that somebody waits for a slow read to begin


class Postgres:
    dialect = "postgresql"

    def __init__(self, url: str, *, connections: int, replicas: Replicas | None = None) -> None:
        self.url = url
        self.replicas = replicas
        self._lender = Lender(url, most=connections)

    @classmethod
    async def open(cls, url: str, *, connections: int, replicas: Replicas | None = None) -> Postgres:
        """Opened with a first connection, so that an address nobody answers at is known at once."""
        made = cls(url, connections=connections, replicas=replicas)
        made._lender.give(await made._lender.take())
        return made

    def session(self) -> PostgresSession:
        return PostgresSession(self._lender, self.replicas)

    def version(self) -> int | None:
        return None

    def connections(self) -> dict[str, int]:
        return self._lender.counts()

    async def size(self) -> int:
        [row] = await self.session().fetch("SELECT pg_database_size(current_database())")
        return int(row[0])

    async def revision(self) -> str | None:
        session = self.session()
        if not (await session.fetch("SELECT to_regclass('alembic_version') IS NOT NULL"))[0][0]:
            return None
        found = await session.fetch("SELECT version_num FROM alembic_version")
        return str(found[0][0]) if found else None

    async def close(self) -> None:
        await self._lender.close()
        if self.replicas is not None:
            await self.replicas.close()


class PostgresSession:
    __slots__ = ("_connection", "_depth", "_lender", "_outer", "_replica", "_replicas", "when_begun")

    def __init__(self, lender: Lender, replicas: Replicas | None = None) -> None:
        self.when_begun: Callable[[], Awaitable[None]] | None = None
        self._lender = lender
        self._replicas = replicas
        self._replica: Replica | None = None  # the one that this session reads from, while it does
        self._connection: Any = None
        self._outer: writing.Writer | None = None
        self._depth = 0

    @property
    def is_writing(self) -> bool:
        return self._connection is not None

    def let_lag(self) -> None:
        if self._replicas is not None and self._connection is None:
            self._replica = self._replicas.choose()

    async def all(self, query: Query[Row], /, **params: Any) -> list[Row]:
        compiled = query.compiled("postgresql")
        if compiled.writes and self._connection is None:
            await self.begin()
        return compiled.read(await self.fetch(compiled.sql, *compiled.bind(params)))

    async def one(self, query: Query[Row], /, **params: Any) -> Row | None:
        rows = await self.all(query, **params)
        return rows[0] if rows else None

    async def slow(self, query: Query[Row], /, **params: Any) -> list[Row]:
        compiled = query.compiled("postgresql")
        if self._connection is not None:  # whoever writes does not wait for what others read
            return compiled.read(await self.fetch(compiled.sql, *compiled.bind(params)))
        try:
            async with self._lender.slow_reads.take(
                seconds=SLOW_SECONDS, is_stranger=asking.is_for_a_stranger(), caller=asking.caller()
            ):
                return compiled.read(await self._read(compiled.sql, compiled.bind(params)))
        except Full as full:
            raise Unavailable from full

    async def fetch(self, sql: str, *values: Any) -> list[Any]:
        if self._connection is None:
            return await self._read(sql, values)
        began = perf_counter()
        with _translated():
            rows: list[Any] = await self._connection.fetch(sql, *values)
        noted(began)
        return rows

    async def _read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        if self._replica is not None:
            try:
                rows = await _fetch(self._replica.lender, sql, values)
            except (*_TRANSIENT, asyncpg.PostgresError, TimeoutError, Unavailable) as error:
                self._replica.fail(error, is_well=not isinstance(error, (*_TRANSIENT, TimeoutError, Unavailable)))
                self._replica = None  # from here on the primary, which is never older than what was read so far
            else:
                self._replica.answered()
                return rows
        with _translated():
            return await _fetch(self._lender, sql, values)

    async def run(self, command: Command, /, **params: Any) -> int:
        compiled = command.compiled("postgresql")
        if self._connection is None:
            await self.begin()
        began = perf_counter()
        with _translated():
            done = await self._connection.execute(compiled.sql, *compiled.bind(params))
        noted(began)
        count = done.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def many(self, command: Command, rows: Sequence[Mapping[str, Any]], /) -> None:
        compiled = command.compiled("postgresql")
        if self._connection is None:
            await self.begin()
        began = perf_counter()
        with _translated():
            await self._connection.executemany(compiled.sql, [compiled.bind(row) for row in rows])
        noted(began)

    async def begin(self) -> None:
        if self._connection is None:
            self._replica = None
            with _translated():
                connection = await self._lender.take()
                try:
                    await connection.execute("BEGIN")
                except BaseException:
                    self._lender.give(connection, is_well=False)
                    raise
            self._connection = connection
            self._outer = writing.enter(self)
            if self.when_begun is not None:
                await self.when_begun()

    async def hold(self, subject: str) -> None:
        await self.begin()
        with _translated():
            await self._connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", subject)

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        await self.begin()
        self._depth += 1
        name = f"part{self._depth}"
        await self._say(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            await self._say(f"ROLLBACK TO SAVEPOINT {name}")
            raise
        finally:
            await self._say(f"RELEASE SAVEPOINT {name}")
            self._depth -= 1

    async def _say(self, words: str) -> None:
        with _translated():
            await self._connection.execute(words)

    async def commit(self) -> None:
        await self._end("COMMIT")

    async def rollback(self) -> None:
        with suppress(Unavailable):  # where the connection is lost, PostgreSQL has rolled back by itself
            await self._end("ROLLBACK")

    async def _end(self, word: str) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        writing.leave(self._outer)
        is_well = False
        try:
            with _translated():
                done = await connection.execute(word)
            if word == "COMMIT" and done != "COMMIT":
                raise Unavailable("The transaction was rolled back")
            is_well = True
        finally:
            # Whatever state it is in, nobody may inherit it.
            self._lender.give(connection, is_well=is_well)


async def _fetch(lender: Lender, sql: str, values: Sequence[Any]) -> list[Any]:
    """On a connection borrowed for this alone; one that did not come to an answer is not lent again."""
    connection = await lender.take()
    began = perf_counter()
    try:
        rows: list[Any] = await connection.fetch(sql, *values)
    except asyncpg.PostgresError as error:
        lender.give(connection, is_well=not isinstance(error, _TRANSIENT))
        raise
    except BaseException:
        lender.give(connection, is_well=False)
        raise
    lender.give(connection)
    noted(began)
    return rows


class _translated:  # noqa: N801 - reads as a word where it is used
    """Turns the driver's errors into ours; a class, because a generator costs more on every statement."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if error is None:
            return
        if isinstance(error, asyncpg.UniqueViolationError):
            raise Taken(*columns_of(error.constraint_name or "")) from error
        if isinstance(error, (asyncpg.ForeignKeyViolationError, asyncpg.RestrictViolationError)):
            raise Dangling from error
        if isinstance(error, asyncpg.CharacterNotInRepertoireError):
            raise Malformed("Null characters are not allowed.") from error
        if isinstance(error, asyncpg.DiskFullError):
            raise NoSpace from error
        if isinstance(error, _TRANSIENT):
            raise Unavailable from error


_TRANSIENT = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # used after the server has ended the connection
    asyncpg.PostgresConnectionError,
    asyncpg.TransactionRollbackError,  # a deadlock, say
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientResourcesError,  # connections, memory, disk
    asyncpg.OperatorInterventionError,  # shut down, cancelled, not yet up
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby, or a primary that an operator stopped
)
