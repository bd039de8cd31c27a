"""Clients that hold on to their connections, from this machine's own addresses."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Iterator

POST = b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
GET = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

# What each kind sends at first, and then a piece of now and again.
KINDS: dict[str, tuple[bytes, bytes]] = {
    "nothing": (b"", b""),
    "half a head": (b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"a"),
    "a head and no body": (POST + b"Content-Length: 1000000\r\n\r\n", b""),
    "a slow body": (POST + b"Content-Length: 1000000\r\n\r\n", b"a"),
    "a begun body": (POST + b"Content-Length: 1000000\r\n\r\n" + b"a" * 70_000, b"a"),
    "a slow chunked body": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "a promise of a body": (POST + b"Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n", b""),
    "an idle connection": (GET, b""),
    "answers never read": (b"GET /api/v2/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 20, b""),
    "requests and garbage": (GET * 3 + b"\0\xff garbage" * 100, b""),
}

_ESTABLISHED = 1


class Attackers:
    def __init__(self, port: int) -> None:
        self._port = port
        self.sockets: list[socket.socket] = []

    async def connect(self, count: int, addresses: list[str], said: bytes = b"") -> None:
        loop = asyncio.get_running_loop()
        for number in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.bind((addresses[number % len(addresses)], 0))
            self.sockets.append(one)
            await loop.sock_connect(one, ("127.0.0.1", self._port))
            self._say(one, said)

    def drip(self, piece: bytes) -> None:
        for one in self.sockets:
            self._say(one, piece)

    @staticmethod
    def _say(one: socket.socket, words: bytes) -> None:
        with contextlib.suppress(OSError):  # it was cut off, or is full, which is what it came for
            if words:
                one.send(words)

    @property
    def held(self) -> int:
        """How many the other side has not ended, found out without reading."""
        states = (one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] for one in self.sockets)
        return sum(state == _ESTABLISHED for state in states)

    def answers(self) -> Iterator[bytes]:
        """What those that were told something were told."""
        for one in self.sockets:
            try:
                yield one.recv(4000)
            except OSError:
                continue

    def close(self) -> None:
        for one in self.sockets:
            one.close()


async def ask(port: int, address: str, path: str, *lines: str) -> tuple[int, bytes]:
    """One request on a connection of its own from `address`; the status and the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    head = "".join(f"{line}\r\n" for line in (f"GET {path} HTTP/1.1", "Host: x", "Connection: close", *lines))
    writer.write(f"{head}\r\n".encode())
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer


async def until(claim: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < give_up, "it never became true"
        await asyncio.sleep(0.02)
