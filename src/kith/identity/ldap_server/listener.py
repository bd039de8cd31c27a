"""Where the LDAP server listens, and how many it listens to."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from kith.base.counted_log import log_counted
from kith.base.exchange import Server
from kith.base.limits import address_key
from kith.base.server import listen
from kith.base.server.accepting import Accepting
from kith.base.server.client_places import ClientPlace, ClientPlaces
from kith.base.server.greetings import Greetings
from kith.base.server.proxies import plain
from kith.base.server.turns import Turns
from kith.base.settings import Settings, split_bind
from kith.base.work import Works
from kith.identity.ldap_server.connection import HANDSHAKE_SECONDS, LdapConnection
from kith.identity.ldap_server.encryption import Certificates

__all__ = ["LdapServer"]

MOST_CONNECTIONS = 1000
MOST_PER_ADDRESS = 200
IN_A_ROUND, FOR_STRANGERS = 4, 1  # requests, or parts of long searches, that are done each time the loop goes round
MOST_UNREAD = 16 << 10  # of what a client sends before it is answered
FAREWELL_SECONDS = 10.0  # for a client to take the last words
_log = structlog.get_logger()
_Hold = Callable[[socket.socket, ClientPlace], Coroutine[Any, Any, None]]


class LdapServer:
    """`ldap_bind` speaks in clear until StartTLS, `ldaps_bind` is encrypted from the start."""

    def __init__(self, works: Works) -> None:
        self._server = Server(works, routes=(), headers=(), secret_paths=(), max_body=0)
        self._certificates = Certificates(works)
        self._listening: list[Accepting] = []
        self._places = ClientPlaces("ldap", MOST_CONNECTIONS, MOST_PER_ADDRESS)
        self._greetings = Greetings(asyncio.get_running_loop())
        self._turns = Turns(asyncio.get_running_loop(), at_once=IN_A_ROUND, for_strangers=FOR_STRANGERS, each=1)
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, settings: Settings) -> None:
        for bind, name, hold in (
            (settings.ldap_bind, "ldap_bind", self._hold),
            (settings.ldaps_bind, "ldaps_bind", self._hold_encrypted),
        ):
            if bind:
                listener = listen(*split_bind(bind, name), shared=settings.processes > 1)
                self._listening.append(Accepting(listener, self._taker(hold)))
                _log.info("ldap.listening", address=bind, encrypted=hold == self._hold_encrypted)

    async def leave(self, _seconds: float) -> None:
        """Whoever connects from now on waits for the next process."""
        for one in self._listening:
            one.close()

    async def stop(self) -> None:
        for one in self._listening:
            one.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _taker(self, hold: _Hold) -> Callable[[socket.socket, str], None]:
        """Whoever comes when all places are taken is sent away without a word: LDAP has none before a message."""

        def take(accepted: socket.socket, peer: str) -> None:
            place = self._places.take(address_key(plain(peer)))
            if place is None:
                accepted.close()
                return
            place.task = asyncio.get_running_loop().create_task(self._guard(hold, accepted, place))
            self._open.add(place.task)
            place.task.add_done_callback(lambda done: self._ended(done, place))

        return take

    def _ended(self, task: asyncio.Task[None], place: ClientPlace) -> None:
        self._open.discard(task)
        self._places.leave(place)

    async def _guard(self, hold: _Hold, accepted: socket.socket, place: ClientPlace) -> None:
        try:
            await hold(accepted, place)
        except (OSError, EOFError):
            pass  # the client's matter
        except asyncio.CancelledError:
            pass  # the server stops, or somebody else has the place
        except Exception as error:  # noqa: BLE001 - one client's fault is not the others'
            log_counted("error", "ldap.broken", error=error)

    async def _hold_encrypted(self, accepted: socket.socket, place: ClientPlace) -> None:
        context = await self._certificates.context()
        if context is None:
            log_counted("warning", "ldap.no_certificate")
            accepted.close()
            return
        await self._greetings.wait(accepted, place.address, HANDSHAKE_SECONDS)
        await self._hold(accepted, place, context)

    async def _hold(self, accepted: socket.socket, place: ClientPlace, context: ssl.SSLContext | None = None) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_UNREAD, loop=loop)
        writers: list[asyncio.StreamWriter] = []
        protocol = asyncio.StreamReaderProtocol(reader, lambda _reader, writer: writers.append(writer), loop=loop)
        timeout = None if context is None else HANDSHAKE_SECONDS
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol, accepted, ssl=context, ssl_handshake_timeout=timeout
        )
        [writer] = writers
        try:
            await LdapConnection(
                self._server, reader, writer, self._certificates.context, place, self._turns, self._greetings
            ).run()
        finally:
            with contextlib.suppress(Exception):
                writer.close()
            loop.call_later(FAREWELL_SECONDS, transport.abort)
