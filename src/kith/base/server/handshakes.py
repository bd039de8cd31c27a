"""TLS before HTTP: handshakes that have begun, of which only so many may be under way.

A client that connects and says nothing costs a descriptor until its time is over. So there is a limit for all of them
and one for each address, apart from the limits for connections that are open.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from typing import TYPE_CHECKING, Any

from kith.base.limits import address_key
from kith.base.server.http import HttpConnection
from kith.base.server.proxies import plain

if TYPE_CHECKING:
    from kith.base.server.listening import HttpServer

__all__ = ["Handshakes", "Newcomer"]

MOST = 1000
MOST_PER_ADDRESS = 100
SECONDS = 10.0
END_SECONDS = 2.0


class Handshakes:
    def __init__(self, server: HttpServer, context: ssl.SSLContext) -> None:
        self.server = server
        self._context = context
        self._under_way: set[asyncio.Task[None]] = set()
        self._by_address: Counter[str] = Counter()

    def begin(self, transport: Any) -> None:
        """Whoever comes when there are too many is sent away without a word: TLS has none before its first."""
        peer = transport.get_extra_info("peername") or ("", 0)
        address = address_key(plain(peer[0]))
        per_address = MOST_PER_ADDRESS if self.server.register.limits.per_address else MOST
        if len(self._under_way) >= MOST or self._by_address[address] >= per_address:
            transport.abort()
            return
        self._by_address[address] += 1
        task = self.server.loop.create_task(self._shake_hands(transport))
        self._under_way.add(task)
        task.add_done_callback(lambda done: self._ended(done, address))

    def _ended(self, task: asyncio.Task[None], address: str) -> None:
        self._under_way.discard(task)
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def _shake_hands(self, transport: Any) -> None:
        early = _Early()
        try:
            encrypted: Any = await self.server.loop.start_tls(
                transport,
                early,
                self._context,
                server_side=True,
                ssl_handshake_timeout=SECONDS,
                ssl_shutdown_timeout=END_SECONDS,
            )
        except (OSError, EOFError):  # of the client: no TLS, an unknown name, or too slow
            transport.abort()
            return
        early.hand_over(encrypted, HttpConnection(self.server))

    def stop(self) -> None:
        for task in self._under_way:
            task.cancel()


class Newcomer(asyncio.Protocol):
    """A connection before its handshake."""

    def __init__(self, handshakes: Handshakes) -> None:
        self._handshakes = handshakes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._handshakes.begin(transport)


class _Early(asyncio.Protocol):
    """Keeps what comes with the end of the handshake, until the connection is there that reads it."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._has_ended = False
        self._is_lost = False

    def data_received(self, data: bytes) -> None:
        self._data.append(data)

    def eof_received(self) -> None:
        self._has_ended = True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._is_lost = True

    def hand_over(self, transport: Any, connection: HttpConnection) -> None:
        if self._is_lost:
            return
        transport.set_protocol(connection)
        connection.connection_made(transport)
        for data in self._data:
            connection.data_received(data)
        if self._has_ended:
            connection.eof_received()
