"""News between processes, over PostgreSQL."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Sequence

import asyncpg
import msgspec
import structlog

from kith.base.db import Database
from kith.base.db.postgres import Postgres
from kith.base.news import JOBS, Fact, News

__all__ = ["Relay", "relay_for"]

CHANNEL = "kith_news"
_log = structlog.get_logger()


class Relay:
    """Carries news between processes over one kept PostgreSQL connection, in small bundles."""

    BUNDLE_BYTES = 7000

    def __init__(self, url: str, news: News) -> None:
        self._url = url
        self._news = news
        self._me = uuid.uuid4().hex
        self._outbox: list[str] = []
        self._wake = asyncio.Event()

    def send(self, facts: Sequence[Fact], *, lanes: Collection[str]) -> None:
        lines = [f"{type(fact).__name__} {msgspec.json.encode(fact).decode()}" for fact in facts]
        lines += [line for lane in lanes if (line := f"{JOBS} {lane}") not in self._outbox]
        if lines:
            self._outbox.extend(lines)
            self._wake.set()

    async def run(self) -> None:
        """Keep the connection, whatever happens to it."""
        while True:
            try:
                await self._talk()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                _log.warning("news.relay_lost", cause=str(error))
                self._news.call_workers()
                await asyncio.sleep(1)

    async def deliver(self) -> None:
        """Send what waits on a connection for this alone: for a command, which is about to end."""
        if not self._outbox:
            return
        try:
            connection = await asyncpg.connect(self._url, timeout=10, command_timeout=10)
        except (OSError, asyncpg.PostgresError) as error:
            _log.warning("news.not_delivered", cause=str(error))  # workers look for jobs by themselves, too
            return
        try:
            for bundle in self._bundles():
                await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, bundle)
        finally:
            await connection.close(timeout=2)

    async def _talk(self) -> None:
        connection = await asyncpg.connect(self._url, timeout=10, command_timeout=10)
        try:
            await connection.add_listener(CHANNEL, self._hear)
            connection.add_termination_listener(lambda _: self._wake.set())
            while True:
                try:
                    async with asyncio.timeout(30):
                        await self._wake.wait()
                except TimeoutError:
                    await connection.execute("SELECT 1")
                    continue
                self._wake.clear()
                for bundle in self._bundles():
                    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, bundle)
        finally:
            await connection.close(timeout=2)

    def _bundles(self) -> list[str]:
        bundles = [self._me]
        for line in self._outbox:
            if len(line.encode()) > self.BUNDLE_BYTES:
                _log.error("news.too_long", fact=line.partition(" ")[0])
                continue
            if len(bundles[-1].encode()) + len(line.encode()) > self.BUNDLE_BYTES:
                bundles.append(self._me)
            bundles[-1] += "\n" + line
        self._outbox.clear()
        return bundles

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: str) -> None:
        sender, *lines = payload.split("\n")
        if sender == self._me:
            return
        for line in lines:
            name, _, body = line.partition(" ")
            self._news.arrived(name, body.encode())


def relay_for(database: Database, news: News) -> Relay | None:
    """On SQLite there is one server process, and nobody to carry news to."""
    if not isinstance(database, Postgres):
        return None
    relay = Relay(database.url, news)
    news.relay = relay
    return relay
