"""HTTP to a town's server at a fraction of the usual cost.

A run of the tests makes hundreds of thousands of requests, and the usual transport of httpx spends more on one than most
servers do. This one speaks plain HTTP/1.1 over kept connections, and leaves everything else to the usual one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import httptools
import httpx

from tests.town.plain import PLAIN

__all__ = ["QuickTransport"]

MOST_CONNECTIONS = 100  # as many as httpx opens by default
Address = tuple[str, int]


class QuickTransport(httpx.AsyncBaseTransport):
    """Shared by all who speak to a town: it lasts as long as the town, not as one of its clients."""

    def __init__(self, *, keeps: bool = True) -> None:
        """`keeps`: whether connections are used again."""
        self._keeps = keeps
        self._idle: dict[Address, deque[_Connection]] = {}
        self._places = asyncio.Semaphore(MOST_CONNECTIONS)
        self._others = httpx.AsyncHTTPTransport(verify=PLAIN)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.scheme != "http":
            return await self._others.handle_async_request(request)
        message = _written(request, await request.aread())
        await self._places.acquire()
        connection: _Connection | None = None
        try:
            address = (request.url.host, request.url.port or 80)
            seconds = request.extensions.get("timeout", {}).get("read")
            try:
                async with asyncio.timeout(seconds):
                    connection = await self._ask(address, message, is_head=request.method == "HEAD")
                    await connection.head
            except TimeoutError as error:
                raise httpx.ReadTimeout("", request=request) from error
        except BaseException as error:
            self._places.release()
            if connection is not None:
                connection.abort()
            if isinstance(error, httpx.TransportError):
                error.request = request
            raise
        return httpx.Response(
            connection.status,
            headers=connection.headers,
            stream=_Body(connection, seconds, lambda: self._over(address, connection)),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": bytes(connection.reason)},
        )

    async def _ask(self, address: Address, message: bytes, *, is_head: bool) -> _Connection:
        """One that was kept may have been ended by the server in this very moment: then a new one is asked."""
        idle = self._idle.setdefault(address, deque())
        while idle:
            connection = idle.pop()
            if connection.is_open:
                connection.send(message, is_head=is_head)
                await asyncio.wait((connection.head,))
                if not connection.was_dropped:
                    return connection
        try:
            _, made = await asyncio.get_running_loop().create_connection(_Connection, *address)
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        made.send(message, is_head=is_head)
        return made

    def _over(self, address: Address, connection: _Connection) -> None:
        self._places.release()
        if self._keeps and connection.may_be_kept:
            self._idle[address].append(connection)
        else:
            connection.abort()

    async def end(self) -> None:
        for some in self._idle.values():
            for connection in some:
                connection.abort()
        self._idle.clear()
        await self._others.aclose()
        await asyncio.sleep(0)  # until what was aborted is gone


def _written(request: httpx.Request, body: bytes) -> bytes:
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%s: %s" % pair for pair in request.headers.raw]
    if request.headers.get("transfer-encoding", "").lower() == "chunked":
        body = (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + b"0\r\n\r\n"
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class _Body(httpx.AsyncByteStream):
    def __init__(self, connection: _Connection, seconds: float | None, on_end: Callable[[], None]) -> None:
        self._connection, self._seconds, self._on_end = connection, seconds, on_end
        self._has_ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        while True:
            while connection.chunks:
                yield connection.chunks.popleft()
            if connection.is_complete:
                return
            if connection.failure is not None:
                raise connection.failure
            try:
                async with asyncio.timeout(self._seconds):
                    await connection.more()
            except TimeoutError as error:
                raise httpx.ReadTimeout("") from error

    async def aclose(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._on_end()


class _Connection(asyncio.Protocol):
    """One request after the other. Called by the loop with what comes, and by the parser with what that means."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def send(self, message: bytes, *, is_head: bool) -> None:
        self._parser: Any = httptools.HttpResponseParser(self)
        self._is_head = is_head
        self._keeps_alive = True
        self._waiter: asyncio.Future[None] | None = None
        self.head: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.chunks: deque[bytes] = deque()
        self.is_complete = self.was_dropped = False
        self.failure: httpx.TransportError | None = None
        self._transport.write(message)

    @property
    def may_be_kept(self) -> bool:
        return self.is_open and self.is_complete and self._keeps_alive and not self._is_head

    def abort(self) -> None:
        self.is_open = False
        self._transport.abort()

    async def more(self) -> None:
        """Wait until something has come."""
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    # From the loop

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(httpx.RemoteProtocolError(str(error)))
            self.abort()
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if not hasattr(self, "head") or self.is_complete:
            return
        if self.head.done() and not self._has_length:
            self.is_complete = True  # the end of the connection is the end of the body
        elif error is not None:
            self.was_dropped = not self.status
            self._fail(httpx.ReadError(str(error)))
        else:
            self.was_dropped = not self.status
            self._fail(httpx.RemoteProtocolError("Server disconnected without sending a response."))
        self._wake()

    def _fail(self, failure: httpx.TransportError) -> None:
        self.failure = failure
        if not self.head.done():
            self.head.set_exception(failure)
            self.head.exception()  # whoever has given up need not ask for it

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # From the parser

    def on_message_begin(self) -> None:
        self.headers, self.reason = [], b""

    def on_status(self, reason: bytes) -> None:
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:
            return
        names = {name.lower() for name, _ in self.headers}
        self._has_length = b"content-length" in names or b"transfer-encoding" in names
        self._keeps_alive = self._parser.should_keep_alive()
        if self._is_head:
            self.is_complete = True
        if not self.head.done():
            self.head.set_result(None)

    def on_body(self, body: bytes) -> None:
        self.chunks.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = self.is_complete or self.status >= 200
