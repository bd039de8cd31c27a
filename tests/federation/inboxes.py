"""Another server's inbox on the loopback interface: it writes down what it gets, and answers as a test wants it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

__all__ = ["InboxServer", "ReceivedPost", "inbox_server"]


class ReceivedPost(msgspec.Struct):
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def activity(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def scheme(self) -> str:
        return "rfc9421" if "signature-input" in self.headers else "cavage"


class InboxServer:
    def __init__(self) -> None:
        self.received: list[ReceivedPost] = []
        self.connections = 0
        self.open = 0
        self.peak = 0  # of requests that were being answered at once
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.answer: Callable[[ReceivedPost], str] = lambda _: "202 Accepted"
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._port = 0

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def inbox(self) -> str:
        return self.inbox_of("/inbox")

    def inbox_of(self, path: str) -> str:
        return f"http://{self.domain}{path}"

    @property
    def ids(self) -> list[str]:
        return [post.activity["id"] for post in self.received]

    def answers(self, *lines: str) -> None:
        """One after the other, the last of them for ever; a line is a status, and perhaps headers after it."""
        left = list(lines)
        self.answer = lambda _: left.pop(0) if len(left) > 1 else left[0]

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self.received) >= count)

    async def start(self, *, everywhere: bool = False) -> None:
        """`everywhere`: on all addresses of the loopback network, each of which is a host of its own."""
        self._server = await asyncio.start_server(self._talk, "0.0.0.0" if everywhere else "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self.may_answer.set()
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while self._server is not None:
                post = await _read(reader)
                self.open += 1
                self.peak = max(self.peak, self.open)
                async with self._changed:
                    self.received.append(post)
                    self._changed.notify_all()
                await self.may_answer.wait()
                self.open -= 1
                writer.write(f"HTTP/1.1 {self.answer(post)}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
        writer.close()


async def _read(reader: asyncio.StreamReader) -> ReceivedPost:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    method, path, _ = head[0].split(" ")
    assert method == "POST"
    return ReceivedPost(path, headers, await reader.readexactly(int(headers["content-length"])))


@asynccontextmanager
async def inbox_server() -> AsyncIterator[InboxServer]:
    server = InboxServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
