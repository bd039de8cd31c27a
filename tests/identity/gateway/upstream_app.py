"""An application without sign-in, behind a gateway: it tells what it was asked, and streams when it is told to."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.town.ports import ReservedPort

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class UpstreamApp:
    def __init__(self) -> None:
        self.asked = 0
        self.opened = 0
        self.sockets = 0
        self.go_on = asyncio.Event()
        self.left = asyncio.Event()
        self.heard = asyncio.Queue[bytes]()
        self._port = ReservedPort()
        self.port = self._port.number
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", self.port)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._port.release()

    def cut_all(self) -> None:
        """End every connection, as applications do that have waited long enough."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            self.left.set()
        finally:
            self._tasks.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = [[name.lower(), value.strip()] for name, _, value in (line.partition(":") for line in lines)]
        named = dict(headers)
        path = target.partition("?")[0]
        if named.get("upgrade") == "websocket" and path.endswith("/ws"):
            await self._socket(reader, writer, named)
            return False
        if path == "/early":
            writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\nconnection: close\r\n\r\nlarge")
            return False
        if path == "/vanish":
            return False
        size, digest = await self._body(reader, named)
        if path == "/stream":
            await self._stream(writer)
            return False
        if path == "/half":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf")
            await writer.drain()
            return False
        if path == "/until-the-end":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it")
            return False
        told = {"method": method, "target": target, "headers": headers, "size": size, "sha256": digest}
        body = json.dumps(told).encode()
        lines_out = [
            b"HTTP/1.1 200 OK",
            b"content-type: application/json",
            b"content-length: %d" % len(body),
            b"set-cookie: app=1",
            b"set-cookie: other=2",
            b"connection: keep-alive, x-hop",
            b"x-hop: between us",
        ]
        writer.write(b"\r\n".join(lines_out) + b"\r\n\r\n" + (b"" if method == "HEAD" else body))
        await writer.drain()
        return True

    async def _body(self, reader: asyncio.StreamReader, named: dict[str, str]) -> tuple[int, str]:
        digest, size = hashlib.sha256(), 0
        if "transfer-encoding" in named:
            while length := int((await reader.readline()).strip(), 16):
                data = await reader.readexactly(length)
                await reader.readline()
                digest.update(data)
                size += length
            await reader.readline()
        else:
            left = int(named.get("content-length", "0"))
            while left:
                data = await reader.read(min(left, 1 << 16))
                if not data:
                    raise asyncio.IncompleteReadError(b"", left)
                digest.update(data)
                size += len(data)
                left -= len(data)
        return size, digest.hexdigest()

    async def _stream(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        writer.write(b"3\r\none\r\n")
        await writer.drain()
        await self.go_on.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        await writer.drain()

    async def _socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, named: dict[str, str]) -> None:
        """Says yes in the browser's own words; then every byte comes back as it is, before it one frame of our own."""
        accept = hashlib.sha1(named["sec-websocket-key"].encode() + _MAGIC, usedforsecurity=False).digest()
        words = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
        writer.write(words + b"sec-websocket-accept: %b\r\n\r\n" % base64.b64encode(accept))
        name = named.get("x-kith-username", "nobody").encode()
        writer.write(bytes((0x81, len(name))) + name)
        self.sockets += 1
        while data := await reader.read(1 << 16):
            await self.heard.put(data)
        self.left.set()


@asynccontextmanager
async def upstream_app() -> AsyncIterator[UpstreamApp]:
    app = UpstreamApp()
    await app.start()
    try:
        yield app
    finally:
        with contextlib.suppress(Exception):
            await app.stop()
