"""A connection as its client keeps it: what was written and taken, whose turn it is, and how long that may last."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from kith.base.server import sockets
from kith.base.server.call import MOST_HELD, ClientGone
from kith.base.server.patience import Patience

if TYPE_CHECKING:
    from kith.base.errors import Problem
    from kith.base.server.call import Call
    from kith.base.server.listening import HttpServer
    from kith.base.server.reader import Reader
    from kith.base.server.websocket import WebSocket

__all__ = ["TELL_SECONDS", "TimedConnection"]

TELL_SECONDS = 2.0  # for telling why it must go
MOST_IGNORED = 16 * 1024  # at once, of what nobody reads any more


class TimedConnection(asyncio.Protocol):
    """What is read from it and answered on it is for `HttpConnection` to say."""

    __slots__ = (
        "_acked", "_crowded", "_entered", "_has_begun", "_is_paused", "_parted", "_patience",
        "_paused_at", "_told", "_written", "call", "client", "drained", "is_closing", "is_deaf", "is_gone",
        "is_known", "is_proxy", "is_waiting", "loop", "reader", "register", "server", "since", "transport", "websocket",
    )  # fmt: skip

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.loop = server.loop
        self.register = server.register
        self.transport: Any = None
        self.reader: Reader
        self.call: Call | None = None  # the one that is being answered
        self.websocket: WebSocket | None = None
        self.client = ("", 0)
        self.drained: asyncio.Future[None] | None = None  # while the client does not read
        self.is_gone = False
        self.is_known = False
        self.is_waiting = False
        self.since = 0.0
        self._entered: str | None = None  # the address it is counted for
        self._crowded: Problem | None = None
        self._has_begun = False  # something has been sent
        self.is_proxy = False
        self.is_closing = False  # after what is being answered
        self.is_deaf = False  # nothing more is read
        self._is_paused = False
        self._paused_at = 0.0
        self._parted = False  # it must go, and counts no more
        self._told = False
        self._patience = Patience(server.register.limits)
        self._written = 0
        self._acked = 0

    # What is written to it, and read from it

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    async def until_read(self) -> None:
        """Wait while the client does not read; `ClientGone` if it goes meanwhile.

        That is raised here and not kept where it is waited for: its traceback would keep the answer for as long.
        """
        if self.drained is not None:
            await self.drained
            if self.is_gone:
                raise ClientGone

    def unsent(self) -> int:
        """How much the system has not taken yet, because the client does not read."""
        return 0 if self.is_gone else int(self.transport.get_write_buffer_size())

    def expect_acknowledgements(self) -> None:
        sockets.expect_acknowledgements(self.transport)

    def body_taken(self) -> None:
        if self._is_paused:
            self._resume()
            self.turn()

    def pause(self) -> None:
        if not self._is_paused and not self.transport.is_closing():
            self._is_paused, self._paused_at = True, self.register.now
            self.transport.pause_reading()

    def ignore(self, data: bytes) -> None:
        """What is thrown away costs little; still, others get their turn between two pieces of it."""
        if len(data) > MOST_IGNORED and not self.transport.is_closing():
            self.transport.pause_reading()
            self.loop.call_soon(self._ignore_more)

    def _ignore_more(self) -> None:
        if not self.transport.is_closing():
            self.transport.resume_reading()

    def _resume(self) -> None:
        is_held = (
            self.reader.line
            or self.reader.rest
            or (self.reader.request is not None and len(self.reader.request.body) > MOST_HELD)
            or (self.websocket is not None and self.websocket.is_still)
        )
        if self._is_paused and not is_held and not self.transport.is_closing():
            self._is_paused = False
            self._patience.skip(self._paused_at, self.register.now)
            self.transport.resume_reading()

    # Whose turn it is, and for how long

    def _enter(self, address: str) -> None:
        self._entered = address
        self._crowded = self.register.enter(self, address) or self.register.full()

    def _leave(self) -> None:
        if self._entered is not None:
            self.register.leave(self, self._entered)
            self._entered = None

    def turn(self) -> None:
        if self.is_gone or self._parted:
            return
        if self.reader.line:
            self.pause()
        call = self.call
        is_theirs = call is None or self.drained is not None or not (call.request.is_whole or self._is_paused)
        if self.websocket is not None:
            is_theirs = self.websocket.is_open or self.drained is not None
        if is_theirs and not self.is_waiting:
            self.register.wait_for(self)
        elif not is_theirs and self.is_waiting:
            self.register.work_on(self)

    def overdue(self, now: float) -> str:
        limits = self.register.limits
        if self.websocket is not None and self.drained is None:
            return self.websocket.overdue(now)
        request = self.call.request if self.call is not None else self.reader.request
        if self.drained is not None or (self.is_closing and request is None):
            return "slow_reader" if self._patience.is_over(now, self._taken_by_client() - self._acked) else ""
        if request is not None:
            is_long = self.call is not None and self.call.is_long
            is_over = not is_long and now - self._patience.since > limits.body_seconds
            return "slow_body" if is_over or self._patience.is_over(now, request.size) else ""
        if self.reader.in_head or not self._has_begun:
            return "slow_head" if now - self._patience.since > limits.head_seconds else ""
        idle = limits.known_idle_seconds if self.is_known or self.is_proxy else limits.idle_seconds
        return "idle" if now - self._patience.since > idle else ""

    def _taken_by_client(self) -> int:
        """How much of what was written has reached the other side."""
        waiting = int(self.transport.get_write_buffer_size())
        return self._written - waiting - sockets.unacknowledged(self.transport)

    # Its end

    def give_way(self, reason: str, problem: Problem) -> None:
        """Go; whoever has said what they want is told why."""
        raise NotImplementedError

    def _end(self, *, lingers: bool = False) -> None:
        """Close it; where more is still coming, only our side, so that the client lives to read the answer."""
        self.is_closing = True
        self._patience.begin(self.register.now)
        self._acked = self._taken_by_client()
        self.turn()
        if lingers or (self._parted and self.transport.get_write_buffer_size()):
            self.loop.call_later(TELL_SECONDS, self.cut)
        if lingers and self.transport.can_write_eof() and not self.transport.is_closing():
            self.is_deaf = True
            if self._is_paused:
                self._is_paused = False
                self.transport.resume_reading()
            with contextlib.suppress(OSError):  # the client has gone in this moment
                self.transport.write_eof()
        else:
            self.transport.close()

    def cut(self) -> None:
        """End it at once."""
        if not self.is_gone:
            sockets.forget_unread(self.transport)
            self.transport.abort()

    def _forget(self) -> None:
        self.register.work_on(self)
        self._leave()
