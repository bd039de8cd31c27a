"""Connections to applications, found by address; those not in use are kept for a while."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

import msgspec

from kith.base.http.addresses import PrivateHosts, parse_address, unmapped
from kith.base.http.names import Names
from kith.base.places import Full
from kith.base.reading_turns import ReadingTurns
from kith.base.server import sockets
from kith.base.tls import client_context
from kith.identity.gateway.upstream.connection import UpstreamConnection, UpstreamFailed

__all__ = ["Upstream", "UpstreamPool", "read_upstream"]

CONNECT_SECONDS = 5.0
KEPT_SECONDS = 15.0
MOST_KEPT_EACH = 64
MOST_KEPT = 512
MOST_ADDRESSES = 3
_PORTS = {"http": 80, "https": 443}


class Upstream(msgspec.Struct, frozen=True):
    """Where an application is. The operator's own word may lead anywhere; `is_guarded`: other words may not."""

    scheme: str
    host: str
    port: int
    path: str = ""
    verifies: bool = True
    is_guarded: bool = False

    @property
    def netloc(self) -> bytes:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}").encode()


def read_upstream(url: str, *, verifies: bool, is_guarded: bool) -> Upstream | None:
    """From an http(s) URL; None for anything else."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not host or parts.username is not None or parts.query or parts.fragment:
        return None
    if not url.isprintable() or not url.isascii() or " " in url:
        return None
    return Upstream(scheme, host, port or _PORTS[scheme], parts.path.rstrip("/"), verifies, is_guarded)


def _is_server_itself(address: IPv4Address | IPv6Address) -> bool:
    """Whoever has a domain has its names lead where they like, also to this machine or to what a cloud tells it."""
    address = unmapped(address)
    return address.is_loopback or address.is_link_local or address.is_unspecified


class UpstreamPool:
    def __init__(self, private_hosts: PrivateHosts) -> None:
        self._private_hosts = private_hosts
        self._names = Names("upstream_names", seconds=CONNECT_SECONDS, most_kept=256, most_at_once=64, keep_none=False)
        self._kept: dict[Upstream, list[UpstreamConnection]] = {}
        self._open: set[UpstreamConnection] = set()
        self._count = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._contexts: dict[bool, ssl.SSLContext] = {}
        self._turns: ReadingTurns | None = None

    def kept(self, upstream: Upstream) -> UpstreamConnection | None:
        """A connection that was used before, the last one first."""
        waiting = self._kept.get(upstream)
        while waiting:
            connection = waiting.pop()
            self._count -= 1
            if connection.is_open and not sockets.unread(connection.transport):
                return connection
            self.drop(connection)
        return None

    async def connect(self, upstream: Upstream) -> UpstreamConnection:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._connect(upstream)
        except TimeoutError as error:
            raise UpstreamFailed("no connection in time", is_unheard=True, is_late=True) from error
        except OSError as error:  # wrong certificates among them
            raise UpstreamFailed(f"no connection: {error}", is_unheard=True) from error

    async def _connect(self, upstream: Upstream) -> UpstreamConnection:
        literal = parse_address(upstream.host)
        try:
            found = [str(literal)] if literal is not None else await self._names.resolve(upstream.host)
        except Full as full:
            raise UpstreamFailed("too many names are being looked up", is_unheard=True, is_late=True) from full
        if literal is None and "." in upstream.host.rstrip(".") and not self._is_listed(upstream):
            found = [one for one in found if not _is_server_itself(ip_address(one))]
        if upstream.is_guarded:
            may = self._private_hosts.may_reach
            found = [one for one in found if may(upstream.host, ip_address(one), upstream.port)]
        if not found:
            raise UpstreamFailed(f"no address for {upstream.host} that may be called", is_unheard=True)
        tried = found[:MOST_ADDRESSES]
        for address in tried[:-1]:
            with suppress(OSError):
                return await self._speak(upstream, address)
        return await self._speak(upstream, tried[-1])

    def _is_listed(self, upstream: Upstream) -> bool:
        return upstream.host.endswith(".localhost") or self._private_hosts.lists(upstream.host, upstream.port)

    async def _speak(self, upstream: Upstream, address: str) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        turns = self._turns = self._turns or ReadingTurns(loop)
        context = await self._context(verifies=upstream.verifies) if upstream.scheme == "https" else None
        opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            opened.setblocking(False)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(opened, (address, upstream.port))
            named = upstream.host if context is not None else None
            who = f"{upstream.host}:{upstream.port}"
            _, connection = await loop.create_connection(
                lambda: UpstreamConnection(turns, who), sock=opened, ssl=context, server_hostname=named
            )
        except BaseException:
            opened.close()
            raise
        self._open.add(connection)
        return connection

    async def _context(self, *, verifies: bool) -> ssl.SSLContext:
        """Made once, beside the loop: it reads every authority that the system trusts."""
        found = self._contexts.get(verifies)
        if found is None:
            found = await asyncio.to_thread(client_context)
            if not verifies:
                found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
            self._contexts[verifies] = found
        return found

    def give_back(self, upstream: Upstream, connection: UpstreamConnection) -> None:
        """After an answer that was read to its end."""
        waiting = self._kept.setdefault(upstream, [])
        if not connection.is_kept or len(waiting) >= MOST_KEPT_EACH or self._count >= MOST_KEPT:
            self.drop(connection)
            return
        connection.used += 1
        connection.since = asyncio.get_running_loop().time()
        waiting.append(connection)
        self._count += 1
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(KEPT_SECONDS / 3, self._sweep)

    def drop(self, connection: UpstreamConnection) -> None:
        self._open.discard(connection)
        connection.abort()

    def _sweep(self) -> None:
        """End what was not used for a while, or has been ended by the application."""
        self._sweeping = None
        loop = asyncio.get_running_loop()
        oldest = loop.time() - KEPT_SECONDS
        for upstream, waiting in list(self._kept.items()):
            stay = [one for one in waiting if one.is_open and one.since > oldest]
            for one in waiting:
                if one not in stay:
                    self.drop(one)
            self._count -= len(waiting) - len(stay)
            if stay:
                self._kept[upstream] = stay
            else:
                del self._kept[upstream]
        if self._kept:
            self._sweeping = loop.call_later(KEPT_SECONDS / 3, self._sweep)

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._kept.clear()
        for connection in list(self._open):
            self.drop(connection)
        await asyncio.sleep(0)  # the loop ends them in its next turn
