"""News between processes, over PostgreSQL: told by NOTIFY, and looked up in the table where that was missed.

Every piece of news has an id and is a row of the transaction that it tells of (`news_rows`). A process remembers the
ids it has seen. When it has lost its connection, and every half minute anyway (a process may die between its commit
and its NOTIFY), it reads the rows it has not seen: nothing is lost, and nothing is told twice.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

import asyncpg
import msgspec
import structlog

from kith.base.db import Database
from kith.base.db.postgres import Postgres
from kith.base.ids import id_at
from kith.base.news import JOBS, News
from kith.base.news_rows import KEPT, NewsRow

__all__ = ["Relay", "relay_for"]

CHANNEL = "kith_news"
LOOK_SECONDS = 30.0
SWEEP_SECONDS = 600.0
RETRY_SECONDS = (0.1, 0.5, 1.0)
MARGIN = timedelta(minutes=3)  # longer than any transaction stays open after it wrote its news
AT_ONCE = 500
_log = structlog.get_logger()


class _Late(msgspec.Struct, frozen=True):
    """What was heard of and is still to be told; without a name it must be read first."""

    id: int
    name: str = ""
    body: str = ""


class Relay:
    """Carries news between processes over one kept PostgreSQL connection, in small bundles."""

    BUNDLE_BYTES = 7000

    def __init__(self, url: str, news: News) -> None:
        self._url = url
        self._news = news
        self._me = uuid.uuid4().hex
        self._outbox: list[str] = []
        self._late: list[_Late] = []
        self._seen: set[int] = set()
        self._began_at = datetime.now(UTC)
        self._looked_at: datetime | None = None
        self._swept_at = self._began_at
        self._wake = asyncio.Event()
        self._failures = 0

    def send(self, news: Sequence[NewsRow], *, lanes: Collection[str]) -> None:
        self._seen.update(one.id for one in news)
        lines = [self._line(one) for one in news]
        lines += [line for lane in lanes if (line := f"{JOBS} {lane}") not in self._outbox]
        if lines:
            self._outbox.extend(lines)
            self._wake.set()

    def _line(self, one: NewsRow) -> str:
        """What is too long for the wire is named by its id alone."""
        line = f"{one.id} {one.name} {one.body}"
        return line if len(line.encode()) + 40 <= self.BUNDLE_BYTES else str(one.id)

    async def run(self) -> None:
        """Keep the connection, whatever happens to it."""
        while True:
            try:
                await self._talk()
            except Exception as error:  # noqa: BLE001 - the driver has more ways to fail than it names
                _log.warning("news.relay_lost", cause=str(error))
                self._news.call_workers()
                await asyncio.sleep(RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS) - 1)])
                self._failures += 1

    async def deliver(self) -> None:
        """Send what waits on a connection for this alone: for a command, which is about to end."""
        if not self._outbox:
            return
        try:
            connection = await self._connect()
        except (OSError, asyncpg.PostgresError) as error:
            _log.warning("news.not_delivered", cause=str(error))  # the others find it when they look next
            return
        try:
            await self._empty_outbox(connection)
        finally:
            await connection.close(timeout=2)

    async def _connect(self) -> asyncpg.Connection:
        """Under a name of its own, which operators see in `pg_stat_activity`."""
        names = {"application_name": CHANNEL}
        return await asyncpg.connect(self._url, timeout=10, command_timeout=10, server_settings=names)

    async def _talk(self) -> None:
        connection = await self._connect()
        try:
            connection.add_termination_listener(lambda _: self._wake.set())
            await connection.add_listener(CHANNEL, self._hear)
            await self._look(connection)
            while True:
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    await self._look(connection)
                    self._failures = 0
                    continue
                self._wake.clear()
                if connection.is_closed():
                    raise asyncpg.InterfaceError("the connection was ended")
                await self._tell_late(connection)
                await self._empty_outbox(connection)
                self._failures = 0  # a full disk lets us in, and refuses what we say
                if self._is_due():
                    await self._look(connection)
        finally:
            await connection.close(timeout=2)

    # Telling

    async def _empty_outbox(self, connection: asyncpg.Connection) -> None:
        """A line leaves the outbox when it was taken; one that is sent twice is heard once."""
        while self._outbox:
            bundle, count = self._bundle()
            await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, bundle)
            del self._outbox[:count]

    def _bundle(self) -> tuple[str, int]:
        lines, size = [self._me], len(self._me)
        for line in self._outbox:
            size += 1 + len(line.encode())
            if size > self.BUNDLE_BYTES and len(lines) > 1:
                break
            lines.append(line)
        return "\n".join(lines), len(lines) - 1

    # Hearing

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: str) -> None:
        sender, *lines = payload.split("\n")
        if sender == self._me:
            return
        for line in lines:
            head, _, rest = line.partition(" ")
            if not head.isdigit():
                self._news.arrived(head, rest.encode())
            elif int(head) not in self._seen:
                self._seen.add(int(head))
                name, _, body = rest.partition(" ")
                self._take(_Late(int(head), name, body))

    def _take(self, heard: _Late) -> None:
        """At once, unless something before it must be read first."""
        if heard.name and not self._late:
            self._news.arrived(heard.name, heard.body.encode())
        else:
            self._late.append(heard)
            self._wake.set()

    async def _tell_late(self, connection: asyncpg.Connection) -> None:
        while self._late:
            some = self._late[:AT_ONCE]
            read = await self._read(connection, [one.id for one in some if not one.name])
            for one in some:
                found = read.get(one.id, one)
                if found.name:
                    self._news.arrived(found.name, found.body.encode())
            del self._late[: len(some)]

    async def _read(self, connection: asyncpg.Connection, ids: Sequence[int]) -> dict[int, _Late]:
        if not ids:
            return {}
        rows = await connection.fetch("SELECT id, name, body FROM base_news WHERE id = ANY($1)", list(ids))
        return {row["id"]: _Late(*row) for row in rows}

    # Looking

    def _is_due(self) -> bool:
        return self._looked_at is None or datetime.now(UTC) - self._looked_at > timedelta(seconds=LOOK_SECONDS)

    async def _look(self, connection: asyncpg.Connection) -> None:
        """Read what was written since the last look and not heard of; at the first look, since this process began."""
        now = datetime.now(UTC)
        since = id_at((self._looked_at or now) - MARGIN)
        rows = await connection.fetch("SELECT id FROM base_news WHERE id > $1 ORDER BY id", since)
        missed = [row["id"] for row in rows if row["id"] not in self._seen]
        self._seen.update(missed)
        missed_since = since if self._looked_at is not None else id_at(self._began_at)
        self._late.extend(_Late(id) for id in missed if id > missed_since)
        await self._tell_late(connection)
        self._looked_at = now
        forgotten = id_at(now - 2 * MARGIN)
        self._seen = {id for id in self._seen if id > forgotten}
        if (now - self._swept_at).total_seconds() > SWEEP_SECONDS:
            self._swept_at = now
            await connection.execute("DELETE FROM base_news WHERE id < $1", id_at(now - KEPT))


def relay_for(database: Database, news: News) -> Relay | None:
    """On SQLite there is one server process, and nobody to carry news to."""
    if not isinstance(database, Postgres):
        return None
    relay = Relay(database.url, news)
    news.relay = relay
    return relay
