"""Listening: the socket, the clock, and stopping well."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from kith.base.reading_turns import ReadingTurns
from kith.base.server.accepting import BACKLOG
from kith.base.server.call import Request
from kith.base.server.connections import TICK_SECONDS, Connections
from kith.base.server.handshakes import Handshakes
from kith.base.server.http import HttpConnection
from kith.base.server.kept_listeners import kept_listeners
from kith.base.server.limits import ConnectionLimits
from kith.base.server.proxies import Proxies
from kith.base.server.turns import Turns
from kith.base.server.websocket import WebSocket

__all__ = ["HttpServer", "listen"]

App = Callable[[Any, Any, Any], Awaitable[None]]

END_SECONDS = 2.0  # for a request to notice that its client was cut off
OWING_SECONDS = 0.02  # between looks at whether somebody still waits for an answer
UNSENT_BYTES = 128 * 1024  # that the system holds for a client that does not read


def listen(host: str, port: int, *, shared: bool) -> socket.socket:
    """A socket that takes connections; `shared` between several processes, among which the system divides them."""
    kept = kept_listeners()
    left = kept.adopt(host, port) if kept is not None else None
    listener = _bound(host, port, shared=shared) if left is None else left
    if kept is not None:
        kept.keep(host, port, listener)
    listener.setblocking(False)
    return listener


def _bound(host: str, port: int, *, shared: bool) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


class HttpServer:
    """Serves `app` on a socket until it is stopped."""

    def __init__(
        self,
        app: App,
        listener: socket.socket,
        limits: ConnectionLimits,
        trusted_proxies: tuple[str, ...] = (),
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.app = app
        self.loop = asyncio.get_running_loop()
        self.register = Connections(limits)
        self.turns = Turns(self.loop)
        self.reading_turns = ReadingTurns(self.loop)
        self.proxies = Proxies(trusted_proxies)
        self.address: tuple[str, int] = listener.getsockname()[:2]
        self.open: set[HttpConnection] = set()
        self.is_leaving = False  # every answer is the last on its connection
        self._listener = listener
        self._handshakes = Handshakes(self, tls) if tls is not None else None
        self._accepting: asyncio.Server | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    def websocket(self, connection: HttpConnection, request: Request, scope: dict[str, Any]) -> WebSocket:
        return WebSocket(connection, request, scope)

    async def start(self) -> None:
        self._tick()
        if self._handshakes is not None:
            self._handshakes.start(self._listener)
            return
        self._accepting = await self.loop.create_server(
            lambda: HttpConnection(self), sock=self._listener, backlog=BACKLOG
        )

    def _tick(self) -> None:
        self.register.tick(self.loop.time())
        self._ticking = self.loop.call_later(TICK_SECONDS, self._tick)

    def one_less(self) -> None:
        if self._emptied is not None and not self.open and not self._emptied.done():
            self._emptied.set_result(None)

    async def leave(self, seconds: float) -> None:
        """Part from everybody so that nobody notices, since another process goes on; then `stop` does the rest.

        Who asks once more is answered and told to come back on another connection; who has just come is answered too.
        """
        self.is_leaving = True
        for connection in list(self.open):
            connection.end_lasting()
        await self._until_empty(seconds)
        self._take_nobody()
        until = self.loop.time() + seconds
        while self.loop.time() < until and self._is_owing():  # noqa: ASYNC110 - each connection would have to tell
            await asyncio.sleep(OWING_SECONDS)

    def _is_owing(self) -> bool:
        is_greeting = self._handshakes is not None and self._handshakes.is_busy
        return is_greeting or any(connection.is_owed for connection in self.open)

    def _take_nobody(self) -> None:
        if self._accepting is not None:
            self._accepting.close()
        if self._handshakes is not None:
            self._handshakes.close()

    async def _until_empty(self, seconds: float) -> None:
        if self.open:
            self._emptied = self.loop.create_future()
            await asyncio.wait({self._emptied}, timeout=seconds)

    async def stop(self, seconds: float) -> None:
        """Take nobody in any more, answer what is under way, and cut off what is not done in time."""
        self._take_nobody()
        if self._handshakes is not None:
            self._handshakes.stop()
        for connection in list(self.open):
            connection.finish()
        await self._until_empty(seconds)
        tasks = [task for connection in self.open for task in connection.tasks()]
        for connection in list(self.open):
            connection.cut()
        if tasks:
            _done, late = await asyncio.wait(tasks, timeout=END_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._ticking is not None:
            self._ticking.cancel()
        self.register.tell()
