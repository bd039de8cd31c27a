"""TLS before HTTP: handshakes that have begun, of which only so many may be under way.

A client that connects and says nothing costs a descriptor until its time is over. So there is a limit for all of them
and one for each address, apart from the limits for connections that are open. When all places are taken, whoever has
the most gives one up.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import TYPE_CHECKING

from kith.base.limits import address_key
from kith.base.server.accepting import Accepting
from kith.base.server.client_places import ClientPlace, ClientPlaces
from kith.base.server.greetings import Greetings
from kith.base.server.http import HttpConnection
from kith.base.server.proxies import plain

if TYPE_CHECKING:
    from kith.base.server.listening import HttpServer

__all__ = ["Handshakes"]

MOST = 1000
MOST_PER_ADDRESS = 100
SECONDS = 10.0
END_SECONDS = 2.0


class Handshakes:
    def __init__(self, server: HttpServer, context: ssl.SSLContext) -> None:
        self._server = server
        self._context = context
        self._places = ClientPlaces("handshakes", MOST, MOST_PER_ADDRESS)
        self._greetings = Greetings(server.loop)
        self._under_way: set[asyncio.Task[None]] = set()
        self._accepting: Accepting | None = None

    def start(self, listener: socket.socket) -> None:
        self._accepting = Accepting(listener, self._begin)

    @property
    def is_busy(self) -> bool:
        return bool(self._under_way)

    def close(self) -> None:
        if self._accepting is not None:
            self._accepting.close()

    def stop(self) -> None:
        self.close()
        for task in self._under_way:
            task.cancel()

    def _begin(self, accepted: socket.socket, peer: str) -> None:
        """Who has too many is sent away without a word: TLS has none before its first."""
        bound = None if self._server.register.limits.per_address else MOST
        place = self._places.take(address_key(plain(peer)), most_per_address=bound)
        if place is None:
            accepted.close()
            return
        task = place.task = self._server.loop.create_task(self._shake_hands(accepted, place.address))
        self._under_way.add(task)
        task.add_done_callback(lambda done: self._ended(done, place))

    def _ended(self, task: asyncio.Task[None], place: ClientPlace) -> None:
        self._under_way.discard(task)
        self._places.leave(place)

    async def _shake_hands(self, accepted: socket.socket, address: str) -> None:
        with contextlib.suppress(OSError, EOFError):  # of the client: no TLS, an unknown name, or too slow
            await self._greetings.wait(accepted, address, SECONDS)
            await self._server.loop.connect_accepted_socket(
                lambda: HttpConnection(self._server),
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=SECONDS,
                ssl_shutdown_timeout=END_SECONDS,
            )
