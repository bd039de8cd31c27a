"""News goes up: what happened, told to whoever listens, and only if it really happened.

A fact is announced inside a `Work`. What must be true when the answer leaves is done at once, as the last part of
the transaction; the other subscribers become jobs, rows of the same transaction. After the commit the fact is also
told live to the listeners of this process and, on PostgreSQL, of every other one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kith.base.counted_log import log_counted
from kith.base.jobs.kinds import JobKind
from kith.base.logger import Logger

if TYPE_CHECKING:
    from kith.base.news_rows import NewsRow

__all__ = ["Fact", "News"]

JOBS = "jobs"
ANY = ""  # in place of a lane: nobody knows into which


class Fact(msgspec.Struct, frozen=True):
    """Something that happened, in the past tense and with ids only; its name travels with it."""


Listener = Callable[[Any], None]
Handler = Callable[[Any, Any], Awaitable[None]]
_log = Logger()


class Carrier(Protocol):
    """Brings news to the other processes."""

    def send(self, news: Sequence[NewsRow], *, lanes: Collection[str]) -> None: ...


class News:
    """Who wants to know what. Filled by hand where the server is put together."""

    def __init__(self) -> None:
        self._subscribers: dict[type[Fact], list[JobKind[Any]]] = {}
        self._handlers: dict[type[Fact], list[Handler]] = {}
        self._listeners: dict[type[Fact], list[Listener]] = {}
        self._names: dict[str, type[Fact]] = {}
        self.relay: Carrier | None = None
        self.jobs_came = asyncio.Event()
        self._lanes: set[str] = set()

    def subscribe(self, fact: type[Fact], *kinds: JobKind[Any]) -> None:
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

    def kinds_for(self, fact: Fact) -> Sequence[JobKind[Any]]:
        return self._subscribers.get(type(fact), ())

    def handlers_for(self, fact: Fact) -> Sequence[Handler]:
        return self._handlers.get(type(fact), ())

    def carried(self, facts: Iterable[Fact]) -> list[Fact]:
        """Those of which other processes are told."""
        return [] if self.relay is None else [fact for fact in facts if type(fact) in self._listeners]

    def committed(self, facts: Iterable[Fact], *, lanes: Collection[str], kept: Sequence[NewsRow] = ()) -> None:
        """`lanes` are those into which jobs came, `kept` is what was written down for other processes."""
        for fact in facts:
            if type(fact) in self._listeners:
                self._tell(fact)
        for lane in lanes:
            self.call_workers(lane)
        if self.relay is not None:
            self.relay.send(kept, lanes=lanes)

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
            except Exception as error:  # noqa: BLE001 - one deaf listener must not silence the others
                log_counted("error", "news.listener_failed", error=error, fact=type(fact).__name__)
