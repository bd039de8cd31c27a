"""A client's own web server: documents by path, and how often each was asked for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec


class ClientSite:
    def __init__(self) -> None:
        self.documents: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()
        self.held: dict[str, asyncio.Event] = {}  # what is answered only when it is set
        self.url = ""

    def put(self, path: str, value: object) -> str:
        """The address of a document: text as it is, anything else as JSON."""
        self.documents[path] = value.encode() if isinstance(value, str) else msgspec.json.encode(value)
        return f"{self.url}{path}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.partition(" ")[2].partition(" ")[0]
        self.asked[path] += 1
        if path in self.held:
            await asyncio.wait_for(self.held[path].wait(), 10)
        body = self.documents.get(path)
        status = b"404 Not Found" if body is None else b"302 Found" if body.startswith(b"http") else b"200 OK"
        more = b"Location: %s\r\n" % body if body is not None and body.startswith(b"http") else b""
        writer.write(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n" % (status, more, len(body or b"")))
        writer.write(b"Connection: close\r\n\r\n" + (body or b""))
        await writer.drain()
        writer.close()


@asynccontextmanager
async def client_site() -> AsyncIterator[ClientSite]:
    made = ClientSite()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made
