"""Sockets for protocols other than HTTP, to hosts that somebody else than the operator has named."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address

import msgspec

from kith.base.http.addresses import PrivateHosts, is_public, parse_address
from kith.base.http.names import Names

__all__ = ["GuardedSockets", "socket_to"]

MOST_ADDRESSES = 3


class GuardedSockets(msgspec.Struct, frozen=True):
    """Connects to addresses that may be called, and to no others. `ports` are those of the protocol below 1024.

    A name is looked up once: the address that was judged is the one that is connected to.
    """

    names: Names
    private_hosts: PrivateHosts
    ports: Collection[int] = ()

    async def connect(self, host: str, port: int) -> socket.socket:
        """`OSError` where nobody answers, or nobody may be asked."""
        literal = parse_address(host)
        found = [str(literal)] if literal is not None else await self.names.resolve(host)
        if not found:
            raise OSError(f"nobody knows the address of {host}")
        allowed = [one for one in found if self._may_reach(host, one, port)][:MOST_ADDRESSES]
        if not allowed:
            raise OSError(f"{host}:{port} is not public; add it to KITH_PRIVATE_HOSTS")
        for address in allowed[:-1]:
            with suppress(OSError):
                return await socket_to(address, port)
        return await socket_to(allowed[-1], port)

    def _may_reach(self, host: str, address: str, port: int) -> bool:
        ip = ip_address(address)
        return (port in self.ports and is_public(ip)) or self.private_hosts.may_reach(host, ip, port)


async def socket_to(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException:
        opened.close()
        raise
    return opened
