"""One request or one task is one `Work`: one transaction, one moment, and the facts it announces."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from kith.base import asking, news_rows, traces
from kith.base.db import Database, Session
from kith.base.db.writing import by_the_way
from kith.base.errors import Unavailable
from kith.base.ids import IDs
from kith.base.jobs import store as jobs
from kith.base.jobs.kinds import JobKind
from kith.base.logger import Logger, is_configured
from kith.base.news import Fact, News
from kith.base.reserve import is_full
from kith.base.sealing import Sealer
from kith.base.settings import Settings

__all__ = ["Acting", "Origin", "Work", "Works"]

Service = TypeVar("Service")
_log = Logger()


class Acting(msgspec.Struct, frozen=True):
    """Somebody who does something while they look through another person's eyes."""

    id: int
    username: str
    as_id: int
    as_username: str


class Origin(msgspec.Struct, frozen=True):
    """Where a piece of work came from, for the audit trail and the log."""

    request_id: str = ""
    address: str = ""
    method: str = ""
    path: str = ""
    query: str = ""
    user_agent: str = ""
    host: str = ""  # as the client says it
    session: str = ""
    acting: Acting | None = None
    is_notifying: bool = False  # it tells of an event, so that what it records is not told in turn


class Work:
    """Writes go through `db`, jobs and facts are kept with them, and only the edge commits."""

    __slots__ = ("__weakref__", "_facts", "_jobs", "_lines", "_origin", "_told", "_works", "db", "now")

    def __init__(self, works: Works, origin: Origin | Callable[[], Origin]) -> None:
        self._works = works
        self.db: Session = works.database.session()
        self.now = works.clock()
        self._origin = origin
        self._facts: list[Fact] = []
        self._told = 0  # of the facts, those whose handlers were called at once
        self._jobs: list[dict[str, Any]] = []
        self._lines: list[dict[str, Any]] = []

    @property
    def origin(self) -> Origin:
        """Most works are over before anybody asks."""
        if not isinstance(self._origin, Origin):
            self._origin = self._origin()
        return self._origin

    def come_from(self, origin: Origin | Callable[[], Origin]) -> None:
        self._origin = origin

    def announce(self, fact: Fact) -> None:
        """Tell `fact` to its subscribers once this work is committed, and never if it is not."""
        self._facts.append(fact)
        for kind in self._works.news.kinds_for(fact):
            self.enqueue(kind, fact)

    def enqueue(
        self,
        kind: JobKind[Any],
        payload: msgspec.Struct,
        *,
        at: datetime | None = None,
        key: str | None = None,
        owner: str | None = None,
    ) -> None:
        """Have `kind` done with `payload`, at once or `at` a time.

        While a job with the same `key` waits, another one is not added. Kinds that ask others are done in turns by
        `owner`: whoever has caused what is done now, unless somebody else is named.
        """
        row = jobs.row_for(
            kind,
            payload,
            id=self.new_id(),
            at=at or self.now,
            now=self.now,
            key=key,
            request=traces.carried(self.origin.request_id),
            owner=asking.owner() if owner is None else owner,
        )
        self._jobs.append(jobs.sealed(kind, row, self.find(Sealer)) if kind.is_secret else row)

    async def call_off(self, kind: JobKind[Any], key: str) -> None:
        """The opposite of `enqueue` with a `key`, while the job still waits."""
        self._jobs = [row for row in self._jobs if (row["kind"], row["key"]) != (kind.name, key)]
        await jobs.call_off(self.db, kind.name, key)

    def log(self, event: str, **fields: Any) -> None:
        """A line in the log of a server, once this work is committed; commands say what they do by themselves."""
        if is_configured():
            request = self.origin.request_id
            self._lines.append({"event": event, **({"request": request} if request else {}), **fields})

    def find(self, kind: type[Service]) -> Service:
        """One of the server's own parts, by its type."""
        found: Service = self._works.services[kind]
        return found

    @property
    def settings(self) -> Settings:
        return self._works.settings

    @property
    def stored(self) -> Mapping[str, Any]:
        """What the team has set on pages, by name."""
        return self._works.stored

    @property
    def operator_settings(self) -> Settings:
        """As the server was started, without what the team has changed since."""
        return self._works.operator_settings

    def new_id(self) -> int:
        return self._works.ids.new()

    async def commit(self) -> None:
        """Called by the edge, once. What was announced is written with the rest, then told."""
        if not (self._facts or self._jobs or self._lines or self.db.is_writing):
            return await self.db.commit()  # it has only read
        await self._do_at_once()
        kept = [news_rows.kept(self.new_id(), fact) for fact in self._works.news.carried(self._facts)]
        if kept:
            await news_rows.add(self.db, kept)
        if self._jobs:
            # Always in the same order, so that two works that ask for the same keys never wait for each other.
            self._jobs.sort(key=lambda row: (row["kind"], row["key"] or "", row["id"]))
            await self.db.many(jobs.add, self._jobs)
        await self.db.commit()
        lines, self._lines = self._lines, []
        for line in lines:
            _log.info(**line)
        if self._facts or self._jobs:
            facts, lanes = self._facts, {row["lane"] for row in self._jobs}
            self._facts, self._jobs, self._told = [], [], 0
            self._works.news.committed(facts, lanes=lanes, kept=kept)
        return None

    async def _do_at_once(self) -> None:
        """What handlers announce in turn is handled too."""
        handlers_for = self._works.news.handlers_for
        while self._told < len(self._facts):  # grows while it is walked
            fact = self._facts[self._told]
            self._told += 1
            for handle in handlers_for(fact):
                await handle(self, fact)

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """A part that may fail alone: an exception undoes all of it, the facts and jobs too, and passes on.

        What follows from it at once is done at its end, so that a failure there is a failure of this part.
        """
        await self._do_at_once()
        facts, jobs, lines = len(self._facts), self._jobs.copy(), len(self._lines)  # jobs may be called off meanwhile
        try:
            async with self.db.savepoint():
                yield
                await self._do_at_once()
        except BaseException:
            del self._facts[facts:], self._lines[lines:]
            self._jobs, self._told = jobs, facts
            raise

    async def rollback(self) -> None:
        self._facts.clear()
        self._told = 0
        self._jobs.clear()
        self._lines.clear()
        await self.db.rollback()

    async def revision(self) -> str | None:
        return await self._works.database.revision()

    @property
    def is_disk_full(self) -> bool:
        """Whether what is written goes into the room that is kept for signing in."""
        return is_full(self._works.database)

    def aside(self) -> AbstractAsyncContextManager[Work]:
        """A second work with the same origin, for what must be kept even if this one fails."""
        return self._works.begin(self._origin)

    @asynccontextmanager
    async def noting(self) -> AsyncIterator[Work]:
        """A work aside for what is noted by the way (a last use, say): where it cannot be written now, it is left out.

        Whoever only reads must not be refused, nor wait, because there is no room, or another process writes for long,
        or no new ids can be made.
        """
        with by_the_way():
            try:
                async with self.aside() as aside:
                    yield aside
            except Unavailable:
                return


def _now() -> datetime:
    return datetime.now(UTC)


class Works:
    """Where works come from."""

    def __init__(
        self, settings: Settings, database: Database, ids: IDs, news: News, services: dict[type, Any] | None = None
    ) -> None:
        self.clock: Callable[[], datetime] = _now  # what time it is for every work that begins
        self.settings = settings  # as they count now
        self.operator_settings = settings  # as the server was started
        self.stored: dict[str, Any] = {}  # what the team has set on pages, by name
        self.database = database
        self.ids = ids
        self.news = news
        # Parts of the server, by the type they are asked for.
        self.services: dict[type, Any] = {} if services is None else services

    def open(self, origin: Origin | Callable[[], Origin] | None = None) -> Work:
        """A work whose end is somebody else's duty: the edge of a request."""
        return Work(self, origin or Origin())

    @asynccontextmanager
    async def begin(self, origin: Origin | Callable[[], Origin] | None = None) -> AsyncIterator[Work]:
        """`async with` it: committed at the end, rolled back by any exception."""
        work = self.open(origin)
        try:
            yield work
            await work.commit()
        except BaseException:
            await work.rollback()
            raise
