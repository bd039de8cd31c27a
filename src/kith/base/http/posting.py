"""Small requests to many hosts, over connections that are kept for a while.

What is sent is written at once and of the answer only the head is read, so that a request costs little more than its
system calls. Everything else is as in the client beside this one: the address is judged when it is connected to.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from weakref import WeakSet

import msgspec
from yarl import URL

from kith.base.db import writing
from kith.base.http.addresses import PrivateHosts, parse_address
from kith.base.http.failures import OutgoingError
from kith.base.http.guarded_sockets import MOST_ADDRESSES, socket_to
from kith.base.http.names import Names
from kith.base.http.urls import parse_url
from kith.base.http.wire import PostAnswer, PostConnection
from kith.base.places import Full
from kith.base.tls import client_context

__all__ = ["Poster"]

CONNECT_SECONDS = 5.0
KEPT_SECONDS = 15.0
MOST_KEPT = 256
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")

_Place = tuple[str, str, int]  # scheme, host and port


class _Kept(msgspec.Struct, frozen=True):
    connection: PostConnection
    since: float


class Poster:
    def __init__(self, user_agent: str, private_hosts: PrivateHosts, names: Names) -> None:
        self._user_agent = user_agent
        self._private_hosts = private_hosts
        self._names = names
        self._kept: dict[_Place, list[_Kept]] = {}
        self._open: WeakSet[PostConnection] = WeakSet()
        self._count = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._tls: ssl.SSLContext | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostAnswer:
        """`url` as `checked_url` gives it. A redirect is an answer like any other.

        A host may end a kept connection at the moment it is used. Where nothing was answered on one, the request is
        made once more: give this only what may arrive twice.
        """
        writing.refuse(f"{url} is asked")
        parts = parse_url(url)
        place = (parts.scheme, parts.raw_host or "", parts.port or 0)
        head = self._head(parts, headers, len(body))
        kept = self._take(place)
        if kept is not None:
            with suppress(ConnectionError):
                return await self._send(place, kept, head + body)
        connection = await self._connect(place, url)
        try:
            return await self._send(place, connection, head + body)
        except ConnectionError as error:
            raise OutgoingError("connect", f"{url}: {error or type(error).__name__}") from error

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._kept.clear()
        for connection in list(self._open):
            connection.abort()
        await asyncio.sleep(0)  # the loop ends them in its next turn

    async def _send(self, place: _Place, connection: PostConnection, request: bytes) -> PostAnswer:
        try:
            return await connection.ask(request, lambda: self._keep(place, connection))
        except BaseException:
            connection.abort()
            raise

    def _head(self, url: URL, headers: Mapping[str, str], length: int) -> bytes:
        lines = [f"POST {url.raw_path_qs} HTTP/1.1"]
        named = {"user-agent": self._user_agent, **headers, "content-length": str(length)}
        for name, value in named.items():
            if _UNSAFE.search(name) or _UNSAFE.search(value):
                raise OutgoingError("protocol", f"a header with unsafe characters: {name!r}")
            lines.append(f"{name}: {value}")
        return "\r\n".join((*lines, "\r\n")).encode("latin-1")

    # Connections

    async def _connect(self, place: _Place, shown: str) -> PostConnection:
        scheme, host, port = place
        context = await self._context() if scheme == "https" else None
        found = await self._found(host, shown)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                opened = await self._opened(found, host, port, shown)
                connection = await _spoken(opened, context, host)
        except TimeoutError as error:
            raise OutgoingError("timeout", f"{shown}: no connection within {CONNECT_SECONDS:.0f} s") from error
        except (ssl.SSLError, ssl.CertificateError) as error:
            raise OutgoingError("tls", f"{shown}: {error}") from error
        except OSError as error:
            raise OutgoingError("connect", f"{shown}: {error}") from error
        self._open.add(connection)
        return connection

    async def _found(self, host: str, shown: str) -> list[str]:
        literal = parse_address(host)
        if literal is not None:
            return [str(literal)]
        try:
            return await self._names.resolve(host)
        except Full as full:
            raise OutgoingError("busy", f"{shown}: too many names are being looked up") from full

    async def _opened(self, found: list[str], host: str, port: int, shown: str) -> socket.socket:
        """A socket to the first of its addresses that answers; those that are not for us are not tried."""
        if not found:
            raise OutgoingError("connect", f"{shown}: nobody knows the address of {host}")
        allowed = [one for one in found if self._private_hosts.may_reach(host, ip_address(one), port)][:MOST_ADDRESSES]
        if not allowed:
            raise OutgoingError("refused_address", f"{shown}: this address is not for us to call")
        for address in allowed[:-1]:
            with suppress(OSError):  # a timeout is one too
                async with asyncio.timeout(CONNECT_SECONDS / 2 / (len(allowed) - 1)):
                    return await socket_to(address, port)
        return await socket_to(allowed[-1], port)

    async def _context(self) -> ssl.SSLContext:
        """Made once, beside the loop: it reads every authority that the system trusts."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(client_context)
        return self._tls

    def _take(self, place: _Place) -> PostConnection | None:
        kept = self._kept.get(place)
        while kept:
            self._count -= 1
            connection = kept.pop().connection  # the one that was used last
            if connection.is_open:
                return connection
        return None

    def _keep(self, place: _Place, connection: PostConnection) -> None:
        if self._count >= MOST_KEPT:
            connection.abort()
            return
        self._kept.setdefault(place, []).append(_Kept(connection, time.monotonic()))
        self._count += 1
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(KEPT_SECONDS / 3, self._sweep)

    def _sweep(self) -> None:
        """End what was not used for a while, or has been ended by the other side."""
        oldest = time.monotonic() - KEPT_SECONDS
        for place in list(self._kept):
            stay = [one for one in self._kept[place] if one.connection.is_open and one.since > oldest]
            for one in self._kept[place]:
                if one not in stay:
                    one.connection.abort()
            self._count -= len(self._kept[place]) - len(stay)
            if stay:
                self._kept[place] = stay
            else:
                del self._kept[place]
        self._sweeping = None
        if self._kept:
            self._sweeping = asyncio.get_running_loop().call_later(KEPT_SECONDS / 3, self._sweep)


async def _spoken(opened: socket.socket, context: ssl.SSLContext | None, host: str) -> PostConnection:
    try:
        _, connection = await asyncio.get_running_loop().create_connection(
            PostConnection, sock=opened, ssl=context, server_hostname=host if context is not None else None
        )
    except BaseException:
        opened.close()
        raise
    return connection
