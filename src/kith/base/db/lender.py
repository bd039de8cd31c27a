"""Connections to PostgreSQL, lent to whoever has something to ask and taken back at once.

The driver's own pool costs more than the question itself: it wraps a connection anew for every loan and asks it
whether it is well. Here a loan is a pop from a list, and a connection that met anything but an answer is given up.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from typing import Any

import asyncpg

from kith.base import asking
from kith.base.errors import Unavailable
from kith.base.places import Full, Places

__all__ = ["Lender"]

PATIENCE_SECONDS = 10.0
IDLE_SECONDS = 300.0
LINE, LINE_EACH = 256, 8


class Lender:
    """At most `most` are open; who comes when all are lent waits, first come first served.

    Of one caller a few stand in line, the rest of theirs behind it; and slow reads of one caller take a few.
    """

    def __init__(self, url: str, *, most: int) -> None:
        self._url = url
        self._most = most
        self._open: set[Any] = set()
        self._opening = 0
        self._free: list[tuple[Any, float]] = []
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._is_closed = False
        self._line = Places("database_line", most=LINE, each={"caller": LINE_EACH}, strangers=LINE // 2)
        self.slow_reads = Places(
            "slow_reads", most=max(2, most // 2), each={"caller": max(1, most // 8)}, strangers=max(1, most // 4)
        )

    def counts(self) -> dict[str, int]:
        waiting = sum(1 for one in self._waiting if not one.done())
        return {"busy": len(self._open) - len(self._free), "free": len(self._free), "waiting": waiting}

    async def take(self) -> Any:
        while True:
            if self._is_closed:
                raise Unavailable("The database is closed")
            while self._free:
                connection, since = self._free.pop()
                if self._is_well(connection, since):
                    return connection
                self._give_up(connection)
            if len(self._open) + self._opening < self._most:
                return await self._connect()
            connection = await self._wait()
            if connection is not None:
                return connection

    def _is_well(self, connection: Any, since: float) -> bool:
        return not connection.is_closed() and time.monotonic() - since < IDLE_SECONDS

    async def _connect(self) -> Any:
        self._opening += 1
        try:
            connection = await asyncpg.connect(
                self._url,
                statement_cache_size=1024,
                max_cached_statement_lifetime=0,
                command_timeout=60,
                timeout=PATIENCE_SECONDS,
                server_settings={"application_name": "kith", "timezone": "UTC", "jit": "off"},
            )
            try:
                await connection.set_type_codec("uuid", schema="pg_catalog", encoder=str, decoder=str, format="text")
            except BaseException:
                connection.terminate()
                raise
        except BaseException:
            self._call(None)
            raise
        finally:
            self._opening -= 1
        self._open.add(connection)
        return connection

    async def _wait(self) -> Any | None:
        """A connection that somebody gave back; None when there is room for another one."""
        try:
            async with self._line.take(
                seconds=PATIENCE_SECONDS, is_stranger=asking.is_for_a_stranger(), caller=asking.caller()
            ):
                return await self._wait_in_line()
        except Full as full:
            raise Unavailable from full

    async def _wait_in_line(self) -> Any | None:
        if self._free or len(self._open) + self._opening < self._most:
            return None  # while this one waited to stand in line, somebody has given one back
        turn: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled() and turn.result() is not None:
                self.give(turn.result())  # it came too late for this one
            raise (Unavailable() if isinstance(error, TimeoutError) else error) from error

    def give(self, connection: Any, *, is_well: bool = True) -> None:
        """Take a connection back: outside of any transaction, with no setting changed, and with nothing under way."""
        if not is_well or self._is_closed or connection.is_closed():
            self._give_up(connection)
            self._call(None)
        elif not self._call(connection):
            self._free.append((connection, time.monotonic()))

    def _give_up(self, connection: Any) -> None:
        self._open.discard(connection)
        if not connection.is_closed():
            connection.terminate()

    def _call(self, connection: Any | None) -> bool:
        """Whoever waits longest; False when nobody does."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return True
        return False

    async def close(self) -> None:
        self._is_closed = True
        while self._call(None):
            pass
        for connection, _ in self._free:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await connection.close(timeout=5)
        for connection in list(self._open):
            self._give_up(connection)
        self._free.clear()
