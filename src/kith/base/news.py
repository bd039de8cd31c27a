"""News goes up: what happened, told to whoever listens, and only if it really happened.

A fact is announced inside a `Work`. What must be true when the answer leaves is done at once, as the last part of
the transaction; the other subscribers become jobs, rows of the same transaction. After the commit the fact is also
told live to the listeners of this process and, on PostgreSQL, of every other one.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any

import asyncpg
import msgspec
import structlog

from kith.base.db import Database
from kith.base.db.postgres import Postgres
from kith.base.jobs.kinds import Kind

__all__ = ["Fact", "News"]

CHANNEL = "kith_news"
JOBS = "jobs"
ANY = ""  # in place of a lane: nobody knows into which


class Fact(msgspec.Struct, frozen=True):
    """Something that happened, in the past tense and with ids only; its name travels with it."""


Listener = Callable[[Any], None]
Handler = Callable[[Any, Any], Awaitable[None]]
_log = structlog.get_logger()


class News:
    """Who wants to know what. Filled by hand where the server is put together."""

    def __init__(self) -> None:
        self._subscribers: dict[type[Fact], list[Kind[Any]]] = {}
        self._handlers: dict[type[Fact], list[Handler]] = {}
        self._listeners: dict[type[Fact], list[Listener]] = {}
        self._names: dict[str, type[Fact]] = {}
        self.relay: Relay | None = None
        self.jobs_came = asyncio.Event()
        self._lanes: set[str] = set()

    def subscribe(self, fact: type[Fact], *kinds: Kind[Any]) -> None:
        """Make a job of each kind, in the same transaction, whenever `fact` is announced."""
        self._subscribers.setdefault(fact, []).extend(kinds)

    def at_once(self, fact: type[Fact], *handlers: Handler) -> None:
        """Call each handler with the work and the fact before the work is committed, in the same transaction.

        For what the answer promises and costs a few quick statements. If a handler fails, so does the request.
        """
        self._handlers.setdefault(fact, []).extend(handlers)

    def listen(self, fact: type[Fact], listener: Listener) -> None:
        """Call `listener` after the commit, in every process; what is told here may be lost with a process."""
        self._names[fact.__name__] = fact
        self._listeners.setdefault(fact, []).append(listener)

    def kinds_for(self, fact: Fact) -> Sequence[Kind[Any]]:
        return self._subscribers.get(type(fact), ())

    def handlers_for(self, fact: Fact) -> Sequence[Handler]:
        return self._handlers.get(type(fact), ())

    def committed(self, facts: Iterable[Fact], *, lanes: Collection[str]) -> None:
        """`lanes` are those into which jobs came."""
        told = [fact for fact in facts if type(fact) in self._listeners]
        for fact in told:
            self._tell(fact)
        for lane in lanes:
            self.call_workers(lane)
        if self.relay is not None:
            self.relay.send(told, lanes=lanes)

    def call_workers(self, lane: str = ANY) -> None:
        self._lanes.add(lane)
        self.jobs_came.set()

    def called(self) -> set[str]:
        """Into which lanes jobs have come since this was last asked."""
        lanes, self._lanes = self._lanes, set()
        self.jobs_came.clear()
        return lanes

    def arrived(self, name: str, body: bytes) -> None:
        """News from another process; a fact nobody here listens to is passed over."""
        if name == JOBS:
            self.call_workers(body.decode())
        elif name in self._names:
            try:
                fact = msgspec.json.decode(body, type=self._names[name])
            except msgspec.DecodeError:
                _log.warning("news.not_understood", fact=name)  # from another version of this program
            else:
                self._tell(fact)

    def _tell(self, fact: Fact) -> None:
        for listener in self._listeners.get(type(fact), ()):
            try:
                listener(fact)
            except Exception:  # noqa: BLE001 - one deaf listener must not silence the others
                _log.exception("news.listener_failed", fact=type(fact).__name__)


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
    news.relay = Relay(database.url, news)
    return news.relay
