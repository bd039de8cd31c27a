"""SQLite on the loop thread: reads at once, one writer, and commits that many share.

A hot read takes less time than a hop to another thread, so reads run where they are asked for. Writing is
different: only one session writes at a time, and the flush of a commit runs in a thread of its own. Sessions
that wait for the pen meanwhile write one after the other into the next transaction, each in a savepoint, and
share its one flush (group commit).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from kith.base import asking
from kith.base.db import writing
from kith.base.db.figures import note_turn, noted
from kith.base.db.flusher import Flusher
from kith.base.db.long_reads import STEPS, LongReads
from kith.base.db.sqlite_errors import in_our_words, is_busy, is_interrupted, rolled_back
from kith.base.db.statement import Command, Query
from kith.base.errors import NoSpace, Unavailable
from kith.base.places import Full, Places
from kith.base.reserve import Reserve

Row = TypeVar("Row")
BUSY_SECONDS = 30.0
SLOW_READS, SLOW_READS_EACH, SLOW_READS_FOR_STRANGERS = 4, 2, 2
WRITERS, WRITERS_EACH = 256, 8
SLOW_SECONDS = 30.0  # that somebody waits for a slow read to begin
LOG_PAGES = 16384  # that the log grows to before it is written from the start again
LOG_PAGES_WHEN_FULL = 256  # so that it takes little of the reserve
VERSION_SECONDS = 0.001  # for which the version is believed


def open_connection(path: Path, *, timeout: float, query_only: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, cached_statements=512
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    connection.execute("PRAGMA cache_size = -16384")
    connection.execute("PRAGMA temp_store = MEMORY")
    if query_only:
        connection.execute("PRAGMA query_only = ON")
    return connection


class SQLite:
    dialect = "sqlite"

    def __init__(self, path: Path, *, group_commit: bool = True, patience: float = BUSY_SECONDS) -> None:
        self.path = path
        self.reader = open_connection(path, timeout=5.0, query_only=True)
        self.long_reads = LongReads()
        self.reader.set_progress_handler(self.long_reads.is_over, STEPS)
        self.pen = Pen(
            open_connection(path, timeout=0.0),
            path,
            group_commit=group_commit,
            patience=patience,
            on_commit=self._version_ended,
        )
        self.reserve: Reserve | None = None
        self._version = 0
        self._version_until = 0.0
        self._threads = ThreadPoolExecutor(SLOW_READS, thread_name_prefix="sqlite-read")
        self._thread_of_writer = ThreadPoolExecutor(1, thread_name_prefix="sqlite-read-writing")
        self._slow_reads = Places(
            "slow_reads", most=SLOW_READS, each={"caller": SLOW_READS_EACH}, strangers=SLOW_READS_FOR_STRANGERS
        )
        self._local = threading.local()
        self._lent: list[sqlite3.Connection] = []

    def session(self) -> SQLiteSession:
        return SQLiteSession(self)

    def keep_reserve(self) -> Reserve:
        """For the server: from now on a full disk leaves room for those who are about to enter."""
        self.reserve = self.pen.reserve = Reserve(self.path)
        return self.reserve

    def version(self) -> int | None:
        """Asked of the database at most once in a millisecond, and again after each commit of our own."""
        now = time.monotonic()
        if now >= self._version_until:
            self._version = self.reader.execute("PRAGMA data_version").fetchone()[0]
            self._version_until = now + VERSION_SECONDS
        return self._version

    def _version_ended(self) -> None:
        self._version_until = 0.0

    def connections(self) -> dict[str, int]:
        """One writes at a time; who waits for the pen waits for it."""
        return {"busy": int(self.pen.is_taken), "free": int(not self.pen.is_taken), "waiting": self.pen.waiting}

    async def size(self) -> int:
        [(size,)] = self.reader.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(size)

    async def revision(self) -> str | None:
        found = self.reader.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
        ).fetchone()
        row = self.reader.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
        return row[0] if row else None

    async def beside(self, sql: str, values: list[Any], *, is_writing: bool) -> list[Any]:
        """In a thread. Whoever has the pen does not wait for what others read."""
        loop = asyncio.get_running_loop()
        if is_writing:
            return await loop.run_in_executor(self._thread_of_writer, self._read_beside, sql, values)
        try:
            place = await self._slow_reads.enter(
                seconds=SLOW_SECONDS, is_stranger=asking.is_for_a_stranger(), caller=asking.caller()
            )
        except Full as full:
            raise Unavailable from full
        reading = loop.run_in_executor(self._threads, self._read_beside, sql, values)
        reading.add_done_callback(lambda _: place.give_back())  # not before, even if nobody waits for it any more
        return await asyncio.shield(reading)

    def _read_beside(self, sql: str, values: list[Any]) -> list[Any]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = open_connection(self.path, timeout=5.0, query_only=True)
            self._lent.append(connection)
        return connection.execute(sql, values).fetchall()

    def flush_at_end(self) -> None:
        """Commits do not wait for the disk until `flush`: for a database that is made anew where its making fails."""
        self.pen.connection.execute("PRAGMA synchronous = OFF")

    def flush(self) -> None:
        self.pen.connection.execute("PRAGMA synchronous = FULL")
        self.pen.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    async def close(self) -> None:
        await self.pen.close()
        self._threads.shutdown()
        self._thread_of_writer.shutdown()
        for connection in (self.reader, *self._lent):
            connection.close()


class Pen:
    """The one writing connection, and whose turn it is."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        group_commit: bool,
        patience: float,
        on_commit: Callable[[], None],
    ) -> None:
        self.connection = connection
        self.reserve: Reserve | None = None
        self._path = path
        self._log_pages = LOG_PAGES
        self._on_commit = on_commit
        self._group_commit = group_commit
        self._patience = patience
        self._turn = asyncio.Lock()
        self._waiting = 0  # for a turn
        self._line = Places("writers", most=WRITERS, each={"caller": WRITERS_EACH}, strangers=WRITERS // 2)
        self._flusher = Flusher("sqlite-commit")
        self._group: asyncio.Future[None] | None = None
        self._undone_by: sqlite3.Error | None = None  # what last made SQLite undo a transaction by itself
        self._commits: set[asyncio.Task[None]] = set()
        self._taken_at = 0.0

    @property
    def is_taken(self) -> bool:
        return self._turn.locked()

    @property
    def waiting(self) -> int:
        return self._waiting

    async def take(self) -> None:
        """Wait for one's turn, but not for ever: who holds the pen may be waiting for us."""
        if self.reserve is not None:
            self.reserve.admit()
        if self._waiting or self._turn.locked():
            await self._wait()
        else:
            await self._turn.acquire()  # at once: there is nobody to wait for
        try:
            if not self.connection.in_transaction:
                await self._begin()
            self.connection.execute("SAVEPOINT work")
        except BaseException:
            self._turn.release()
            raise
        self._taken_at = perf_counter()
        self._fit_log()

    def _fit_log(self) -> None:
        is_full = self.reserve is not None and self.reserve.is_given_up
        pages = LOG_PAGES_WHEN_FULL if is_full else LOG_PAGES
        if pages != self._log_pages:
            self._log_pages = pages
            self.connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")

    async def _wait(self) -> None:
        """A few of one caller stand in line, the rest of theirs behind it: whoever else comes waits for those few."""
        stranger, caller = asking.is_for_a_stranger(), asking.caller()
        seconds = writing.patience(self._patience)
        try:
            async with (
                asyncio.timeout(seconds),
                self._line.take(seconds=seconds, is_stranger=stranger, caller=caller),
            ):
                await self._turn_after_others()
        except (TimeoutError, Full) as error:
            raise Unavailable from error

    async def _turn_after_others(self) -> None:
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1

    async def _begin(self) -> None:
        """Another process may be writing; wait for it without holding up the loop."""
        give_up = time.monotonic() + writing.patience(self._patience)
        pause = 0.0005
        while True:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise in_our_words(error, self._path) from error
                if time.monotonic() > give_up:
                    raise Unavailable from error
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.02)
            else:
                return

    def give_back(self) -> None:
        """Undo the holder's part, and only that."""
        note_turn(perf_counter() - self._taken_at)
        try:
            if not self.connection.in_transaction:
                self._lose_group()
                return
            self.connection.execute("ROLLBACK TO work")
            self.connection.execute("RELEASE work")
            if self._group is None:
                self.connection.execute("ROLLBACK")
        finally:
            self._turn.release()

    def is_undone(self, error: sqlite3.Error) -> None:
        """SQLite has ended the transaction because of `error`."""
        self._undone_by = error

    def _lose_group(self) -> None:
        """SQLite undid the whole transaction (the disk is full, say): those who wait for its commit must know."""
        group, self._group = self._group, None
        if group is not None:
            group.set_exception(rolled_back(self._undone_by, self._path))
            group.exception()

    async def commit(self) -> None:
        """End the holder's part and return once it is on disk.

        Whoever is cancelled while waiting is committed all the same, and the others do not notice.
        """
        held = perf_counter() - self._taken_at
        try:
            self.connection.execute("RELEASE work")
        except sqlite3.Error as error:
            self._undone_by = error
            self.give_back()
            raise rolled_back(error, self._path) from error
        note_turn(held)
        group = self._group
        if group is None:
            group = self._group = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._commit_group(group))
            self._commits.add(task)
            task.add_done_callback(self._commits.discard)
        if self._group_commit:
            self._turn.release()
        await asyncio.shield(group)

    async def _commit_group(self, group: asyncio.Future[None]) -> None:
        """Takes its turn behind all who waited when it was made: their parts are in this transaction."""
        if self._group_commit:
            await self._turn_after_others()
        try:
            if self._group is group:
                self._group = None
                await self._flush()
                group.set_result(None)
        except BaseException as error:  # noqa: BLE001 - passed on to everyone who waits
            group.set_exception(error)
            group.exception()
        finally:
            self._turn.release()

    async def _flush(self) -> None:
        try:
            try:
                await asyncio.shield(self._flusher.run(self._end))
            except sqlite3.Error as error:
                if not self._makes_room(error):
                    raise
                await asyncio.shield(self._flusher.run(self._end))
        except sqlite3.Error as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise in_our_words(error, self._path) from error
        finally:
            self._on_commit()

    def _makes_room(self, error: sqlite3.Error) -> bool:
        """Whether what could not be committed for want of room is still there, and has room now."""
        if self.reserve is None or not isinstance(in_our_words(error, self._path), NoSpace):
            return False
        return self.reserve.give_up() and self.connection.in_transaction

    def _end(self) -> None:
        self.connection.execute("COMMIT")

    async def close(self) -> None:
        async with self._turn:
            self._flusher.close()
            self.connection.close()


class SQLiteSession:
    __slots__ = ("_database", "_depth", "_outer", "_reading", "_writing", "when_begun")

    def __init__(self, database: SQLite) -> None:
        self.when_begun: Callable[[], Awaitable[None]] | None = None
        self._database = database
        self._reading = database.reader
        self._writing = False
        self._outer: writing.Writer | None = None
        self._depth = 0

    @property
    def is_writing(self) -> bool:
        return self._writing

    def let_lag(self) -> None:
        """There are no replicas of a file."""

    async def all(self, query: Query[Row], /, **params: Any) -> list[Row]:
        compiled = query.compiled("sqlite")
        if compiled.writes and not self._writing:
            await self.begin()
        return compiled.read(await self._rows(compiled.sql, compiled.bind(params)))

    async def one(self, query: Query[Row], /, **params: Any) -> Row | None:
        compiled = query.compiled("sqlite")
        if compiled.writes and not self._writing:
            await self.begin()
        rows = await self._rows(compiled.sql, compiled.bind(params))
        return compiled.read(rows[:1])[0] if rows else None

    async def _rows(self, sql: str, values: list[Any]) -> list[Any]:
        """At once; beside the loop where that takes long. Whoever writes has the pen, for which others wait anyway."""
        began = perf_counter()
        rows = None
        if self._writing:
            rows = self._execute(sql, values).fetchall()
        elif not self._database.long_reads.is_known(sql):
            rows = self._read_for_a_moment(sql, values)
        if rows is None:
            rows = await self._database.beside(sql, values, is_writing=False)
        noted(began)
        return rows

    def _read_for_a_moment(self, sql: str, values: list[Any]) -> list[Any] | None:
        """None where it takes longer."""
        long_reads = self._database.long_reads
        long_reads.begin()
        try:
            return self._reading.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            if not is_interrupted(error):
                raise self._failure(error) from error
            long_reads.remember(sql)
            return None
        finally:
            long_reads.end()

    async def slow(self, query: Query[Row], /, **params: Any) -> list[Row]:
        compiled = query.compiled("sqlite")
        began = perf_counter()
        rows = await self._database.beside(compiled.sql, compiled.bind(params), is_writing=self._writing)
        noted(began)
        return compiled.read(rows)

    async def run(self, command: Command, /, **params: Any) -> int:
        compiled = command.compiled("sqlite")
        if not self._writing:
            await self.begin()
        began = perf_counter()
        count = self._execute(compiled.sql, compiled.bind(params)).rowcount
        noted(began)
        return count

    async def many(self, command: Command, rows: Sequence[Mapping[str, Any]], /) -> None:
        compiled = command.compiled("sqlite")
        if not self._writing:
            await self.begin()
        values = [compiled.bind(row) for row in rows]
        try:
            self._reading.executemany(compiled.sql, values)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    async def begin(self) -> None:
        if not self._writing:
            await self._database.pen.take()
            self._writing = True
            self._reading = self._database.pen.connection
            self._outer = writing.enter(self)
            if self.when_begun is not None:
                await self.when_begun()

    async def hold(self, _subject: str) -> None:
        """Who has the pen holds everything."""
        await self.begin()

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        await self.begin()
        self._depth += 1
        name = f"part{self._depth}"
        self._reading.execute(f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            if self._reading.in_transaction:
                self._reading.execute(f"ROLLBACK TO {name}")
            raise
        finally:
            if self._reading.in_transaction:
                self._reading.execute(f"RELEASE {name}")
            self._depth -= 1

    async def commit(self) -> None:
        if self._end():
            await self._database.pen.commit()

    async def rollback(self) -> None:
        if self._end():
            self._database.pen.give_back()

    def _end(self) -> bool:
        was_writing, self._writing = self._writing, False
        self._reading = self._database.reader
        if was_writing:
            writing.leave(self._outer)
        return was_writing

    def _execute(self, sql: str, values: list[Any]) -> sqlite3.Cursor:
        try:
            return self._reading.execute(sql, values)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error) -> Exception:
        if self._writing and not self._reading.in_transaction:
            # The whole transaction is gone; whatever this session still tries must not be kept outside of one.
            self._database.pen.is_undone(error)
            self._reading = self._database.reader
        problem = in_our_words(error, self._database.path)
        if isinstance(problem, NoSpace) and self._database.reserve is not None:
            self._database.reserve.give_up()  # for whoever comes next
        return problem
