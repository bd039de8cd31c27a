"""All open connections: who has how many, which of them the server waits for, and which must go.

A connection is waited for while its client owes the next step: a request, the rest of a body, or the reading of an
answer. When there are too many, the one that has been waited for longest goes, and the newcomer gets its chance:
whoever sends a whole request at once is answered, however many others hold on. People who have signed in go last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Protocol

import structlog

from kith.base.errors import Problem, Throttled, Unavailable
from kith.base.limits import address_key
from kith.base.metrics import CONNECTIONS, CONNECTIONS_CUT
from kith.base.server.limits import ConnectionLimits

__all__ = ["Connection", "Connections"]

TICK_SECONDS = 0.5
TELL_SECONDS = 10.0
REASONS = (
    "slow_head", "slow_body", "slow_reader", "unread", "crowded_address", "crowded", "bad_request", "unknown_method",
)  # fmt: skip
MOST_PARTING = 250  # that are being told why they must go, at the same time
UNREAD_SECONDS = 2.0  # after which somebody who does not read goes before those who may just be about to
RESERVE = 0.1  # of all places, for people who have signed in

_log = structlog.get_logger()


class Connection(Protocol):
    """What the register needs to know of a connection."""

    client: tuple[str, int]
    is_known: bool
    is_waiting: bool
    since: float  # when waiting for it began, or when it last got on

    def overdue(self, now: float) -> str:
        """Why it must go now, one of `REASONS`; `idle` if nothing was asked of it; empty if it may stay."""
        ...

    def give_way(self, reason: str, problem: Problem) -> None: ...

    def unsent(self) -> int:
        """Bytes of answers that the client has not taken yet."""
        ...


class _Unread:
    """How much a client has not taken yet, and since when."""

    __slots__ = ("since", "size")

    def __init__(self, size: int, since: float) -> None:
        self.size = size
        self.since = since


class Connections:
    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.now = 0.0  # moves on with every tick; nothing here is finer than that
        self._count = 0
        self._parting = 0
        self._by_address: defaultdict[str, set[Connection]] = defaultdict(set)
        self._strangers: dict[Connection, None] = {}  # waited for, longest first
        self._known: dict[Connection, None] = {}
        self._unread: dict[Connection, _Unread] = {}
        self._unread_bytes = 0
        self._cut: Counter[str] = Counter()
        self._told_at = 0.0

    def __len__(self) -> int:
        return self._count

    def open(self) -> bool:
        """Take one more in, if need be in the place of another; False if there is no place at all."""
        if self._count >= self.limits.connections and not self._make_room(self._strangers, self._known):
            self.count("crowded")
            return False
        self._count += 1
        CONNECTIONS.inc()
        return True

    def may_tell(self) -> bool:
        """Whether there is time for one more to be told by the application why it must go."""
        return self._parting < MOST_PARTING

    def part(self, *, tells: bool) -> None:
        """One that is open no longer counts, although it may still be told why."""
        self._count -= 1
        self._parting += tells

    def close(self, *, parted: bool, told: bool) -> None:
        self._count -= not parted
        self._parting -= told
        CONNECTIONS.dec()

    def full(self) -> Problem | None:
        """What to tell whoever brings no sign of being known, when the last places are being taken."""
        if not self.limits.per_address or self._count < self.limits.connections * (1 - RESERVE):
            return None
        return None if self._make_room(self._strangers) else Unavailable(headers={"Retry-After": "5"})

    def _make_room(self, *orders: dict[Connection, None]) -> bool:
        for order in orders:
            for connection in order:
                connection.give_way("crowded", Unavailable(headers={"Retry-After": "5"}))
                return True
        return False

    # By address

    def enter(self, connection: Connection, address: str) -> Problem | None:
        """Count `connection` for its address; a problem if that has too many and all of them are being answered."""
        if not self.limits.per_address:
            return None
        mine = self._by_address[address_key(address)]
        problem = None
        if len(mine) >= self.limits.per_address and not self._make_room_among(mine):
            problem = Throttled(1)
        mine.add(connection)
        return problem

    def leave(self, connection: Connection, address: str) -> None:
        if not self.limits.per_address:
            return
        key = address_key(address)
        mine = self._by_address.get(key)
        if mine is not None:
            mine.discard(connection)
            if not mine:
                del self._by_address[key]

    def _make_room_among(self, mine: set[Connection]) -> bool:
        waiting = [one for one in mine if one.is_waiting]
        if not waiting:
            return False
        min(waiting, key=lambda one: (one.is_known, one.since)).give_way("crowded_address", Throttled(1))
        return True

    # Waiting

    def wait_for(self, connection: Connection) -> None:
        """From now on it is the client's turn; or it has got on, and is the last again."""
        order = self._known if connection.is_known else self._strangers
        if connection.is_waiting:
            self._strangers.pop(connection, None)
            self._known.pop(connection, None)
        connection.is_waiting = True
        connection.since = self.now
        order[connection] = None

    def work_on(self, connection: Connection) -> None:
        """From now on it is the server's turn."""
        if connection.is_waiting:
            connection.is_waiting = False
            if self._strangers.pop(connection, self) is self:
                self._known.pop(connection, None)

    def leaves_unread(self, connection: Connection) -> None:
        """A client has more to read than its system takes. Once all of it together is too much, some must go: of those
        that have not read for seconds the longest of the address that leaves most, else whoever leaves most.
        """
        self.has_read(connection)
        self._unread[connection] = _Unread(connection.unsent(), self.now)
        self._unread_bytes += self._unread[connection].size
        if self._unread_bytes <= self.limits.unread_bytes:
            return
        for one, known in self._unread.items():
            known.size = one.unsent()
        self._unread_bytes = sum(known.size for known in self._unread.values())
        while self._unread_bytes > self.limits.unread_bytes and len(self._unread) > 1:
            slowest = self._slowest()
            self.has_read(slowest)
            slowest.give_way("unread", SlowClient())

    def _slowest(self) -> Connection:
        """The connection to end next. They are kept in the order in which they began to wait."""
        late = [one for one, known in self._unread.items() if self.now - known.since > UNREAD_SECONDS]
        if not late:
            *others, _newest = self._unread
            return max(others, key=lambda one: self._unread[one].size)
        left: Counter[str] = Counter()
        for one in late:
            left[address_key(one.client[0])] += self._unread[one].size
        [(address, _)] = left.most_common(1)
        return next(one for one in late if address_key(one.client[0]) == address)

    def has_read(self, connection: Connection) -> None:
        known = self._unread.pop(connection, None)
        self._unread_bytes -= 0 if known is None else known.size

    def tick(self, now: float) -> None:
        """Part from those that have kept the server waiting for too long."""
        self.now = now
        for order in (self._strangers, self._known):
            for connection in list(order):
                reason = connection.overdue(now) if connection.is_waiting else ""
                if reason and (reason != "slow_body" or self.may_tell()):
                    connection.give_way(reason, SlowClient())
        if now - self._told_at >= TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        """One line for all that were cut since the last."""
        if self._cut:
            self._told_at = self.now
            _log.warning("connections.cut", open=self._count, **self._cut)
            self._cut.clear()

    def count(self, reason: str) -> None:
        self._cut[reason] += 1
        CONNECTIONS_CUT.labels(reason).inc()


class SlowClient(Problem):
    status = 408
    code = "timeout"
    message = "The request did not arrive in time"
