"""PostgreSQL through asyncpg: a pool, and statements the server prepares once per connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from kith.base.db.errors import Dangling, Taken, columns_of
from kith.base.db.statement import Command, Query
from kith.base.errors import Malformed, Unavailable

Row = TypeVar("Row")


async def _prepare(connection: Any) -> None:
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")


async def _leave_as_is(_connection: Any) -> None:
    """A connection goes back to the pool outside any transaction and with no setting changed."""


class Postgres:
    dialect = "postgresql"

    def __init__(self, url: str, pool: Any) -> None:
        self.url = url
        self.pool = pool

    @classmethod
    async def open(cls, url: str, *, connections: int) -> Postgres:
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=connections,
            statement_cache_size=1024,
            max_cached_statement_lifetime=0,
            command_timeout=60,
            timeout=10,
            init=_prepare,
            reset=_leave_as_is,
            server_settings={"application_name": "kith", "timezone": "UTC", "jit": "off"},
        )
        return cls(url, pool)

    def session(self) -> PostgresSession:
        return PostgresSession(self.pool)

    def version(self) -> int | None:
        return None

    async def revision(self) -> str | None:
        if not await self.pool.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL"):
            return None
        found = await self.pool.fetchval("SELECT version_num FROM alembic_version")
        return None if found is None else str(found)

    async def close(self) -> None:
        await self.pool.close()


class PostgresSession:
    __slots__ = ("_connection", "_depth", "_pool")

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._connection: Any = None
        self._depth = 0

    async def all(self, query: Query[Row], /, **params: Any) -> list[Row]:
        if query.writes and self._connection is None:
            await self.begin()
        compiled = query.compiled("postgresql")
        with _translated():
            rows = await (self._connection or self._pool).fetch(compiled.sql, *compiled.bind(params))
        return compiled.read(rows)

    async def one(self, query: Query[Row], /, **params: Any) -> Row | None:
        rows = await self.all(query, **params)
        return rows[0] if rows else None

    async def slow(self, query: Query[Row], /, **params: Any) -> list[Row]:
        compiled = query.compiled("postgresql")
        with _translated():
            return compiled.read(await self._pool.fetch(compiled.sql, *compiled.bind(params)))

    async def run(self, command: Command, /, **params: Any) -> int:
        if self._connection is None:
            await self.begin()
        compiled = command.compiled("postgresql")
        with _translated():
            done = await self._connection.execute(compiled.sql, *compiled.bind(params))
        count = done.rpartition(" ")[2]
        return int(count) if count.isdigit() else 0

    async def many(self, command: Command, rows: Sequence[Mapping[str, Any]], /) -> None:
        if self._connection is None:
            await self.begin()
        compiled = command.compiled("postgresql")
        with _translated():
            await self._connection.executemany(compiled.sql, [compiled.bind(row) for row in rows])

    async def begin(self) -> None:
        if self._connection is None:
            with _translated():
                connection = await self._pool.acquire(timeout=10)
                try:
                    await connection.execute("BEGIN")
                except BaseException:
                    await self._pool.release(connection)
                    raise
            self._connection = connection

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
        await self._end("ROLLBACK")

    async def _end(self, word: str) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            with _translated():
                done = await connection.execute(word)
            if word == "COMMIT" and done != "COMMIT":
                raise Unavailable("The transaction was rolled back")
        except BaseException:
            # Whatever state it is in, nobody may inherit it.
            connection.terminate()
            raise
        finally:
            await self._pool.release(connection)


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
        if isinstance(error, _TRANSIENT):
            raise Unavailable from error


_TRANSIENT = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.TransactionRollbackError,  # a deadlock, say
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientResourcesError,  # connections, memory, disk
    asyncpg.OperatorInterventionError,  # shut down, cancelled, not yet up
    asyncpg.PostgresSystemError,
)
