"""One request, and the application's answer to it as bytes on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from kith.base.errors import Problem
from kith.base.server import wire

if TYPE_CHECKING:
    from kith.base.server.http import HttpConnection

__all__ = ["Call", "ClientGone", "Request"]

Message = MutableMapping[str, Any]

MOST_HELD = 256 * 1024  # of a body that the application has not taken yet
TOGETHER = 64 * 1024  # up to this long, head and body leave in one piece
_BARE = frozenset((204, 304))
_OF_CONNECTIONS = frozenset((b"connection", b"transfer-encoding", b"keep-alive"))
_ASGI = {"version": "3.0", "spec_version": "2.4"}


class ClientGone(OSError):  # noqa: N818 - it is the client that is gone
    """Nobody is there to read the answer any more."""


class Request:
    __slots__ = (
        "body",
        "expects",
        "headers",
        "is_upgrade",
        "is_whole",
        "keep_alive",
        "leaves_unread",
        "length",
        "method",
        "size",
        "target",
        "version",
    )

    def __init__(self, method: str, target: bytes, headers: list[tuple[bytes, bytes]], version: str) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.version = version
        self.keep_alive = True
        self.is_whole = False
        self.is_upgrade = False  # to a WebSocket
        self.leaves_unread = False  # it is the last that is read, which the client does not know
        self.expects = False  # the client waits for a word before it sends the body
        self.length = 0
        self.body = bytearray()  # what has come and was not taken yet
        self.size = 0

    def header(self, name: bytes) -> bytes:
        for key, value in self.headers:
            if key == name:
                return value
        return b""

    @property
    def path(self) -> bytes:
        """The target without its query; one that names a server too is read from where its path begins."""
        path = self.target.partition(b"?")[0]
        if path.startswith(b"/"):
            return path
        _scheme, found, rest = path.partition(b"://")
        return b"/" + rest.partition(b"/")[2] if found else path

    def scope(self, kind: str, client: tuple[str, int], server: tuple[str, int]) -> dict[str, Any]:
        raw = self.path
        path = raw if b"%" not in raw else unquote_to_bytes(raw)
        return {
            "type": kind,
            "asgi": _ASGI,
            "http_version": self.version,
            "method": self.method,
            "scheme": "http" if kind == "http" else "ws",
            "path": path.decode("utf-8", "replace"),
            "raw_path": raw,
            "query_string": self.target.partition(b"?")[2],
            "root_path": "",
            "headers": self.headers,
            "client": client,
            "server": server,
            "state": {},
            "extensions": {},
        }


class Call:
    """`receive` and `send` of one request."""

    __slots__ = (
        "_connection", "_head", "_is_bare", "_is_left", "_is_taken", "_problem", "_waiter", "is_chunked", "is_done",
        "is_lasting", "is_long", "is_started", "request", "scope", "task",
    )  # fmt: skip

    def __init__(self, connection: HttpConnection, request: Request, scope: dict[str, Any]) -> None:
        self._connection = connection
        self.request = request
        self.scope = scope
        self.task: asyncio.Task[None] | None = None
        self.is_started = False  # the head of the answer has come from the application
        self.is_done = False
        self._head: bytes | None = None  # until it leaves with the first piece of the body
        self.is_chunked = False
        self._is_bare = False
        self.is_lasting = False  # it goes on for as long as somebody listens
        self.is_long = False  # its body may take as long as it gets on
        self._is_taken = False  # the application has the whole body
        self._is_left = False
        self._problem: Problem | None = None
        self._waiter: asyncio.Future[None] | None = None
        scope["extensions"] = {"kith.pipe": self, "kith.response": {}}

    def forget(self) -> None:
        """The application is done. Nothing keeps itself alive then, so that it is gone without a search for garbage."""
        self.task = None
        self.scope["extensions"] = {}

    # What the client sends

    async def receive(self) -> Message:
        request = self.request
        while not request.body and (not request.is_whole or self._is_taken):
            if self._problem is not None:
                problem, self._problem = self._problem, None
                raise problem
            if self._is_left or self.is_done:
                return {"type": "http.disconnect"}
            if request.expects:
                request.expects = False
                self._connection.write(wire.CONTINUE)
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        body, request.body = bytes(request.body), bytearray()
        self._is_taken = request.is_whole
        self._connection.body_taken()
        return {"type": "http.request", "body": body, "more_body": not request.is_whole}

    def wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def leave(self) -> None:
        """The client is gone."""
        self._is_left = True
        self.wake()

    def refuse(self, problem: Problem) -> bool:
        """Let the application say no in its own words; False if it has begun to say something else."""
        if self.is_started:
            return False
        self._problem, self._is_left = problem, True
        self.request.body.clear()
        self.wake()
        return True

    # What the application answers

    async def send(self, message: Message) -> None:
        if self._connection.is_gone:
            raise ClientGone
        kind = message["type"]
        if kind == "kith.response":
            self._head = self._head_of(message["status"], message["headers"], message["lines"])
            self.is_started = True
            self._send_body(message["body"], more=False)
        elif kind == "http.response.body":
            self._send_body(message.get("body", b""), more=message.get("more_body", False))
        elif kind == "http.response.start" and not self.is_started:
            self._head = self._head_of(message["status"], message.get("headers", ()))
            self.is_started = True
        else:
            raise RuntimeError(f"{kind} is out of place here")
        await self._connection.until_read()

    def _head_of(self, status: int, headers: Iterable[tuple[bytes, bytes]], ready: bytes = b"") -> bytes:
        """`ready` are lines that the application has put together already."""
        lines = [wire.status_line(status)]
        has_length = has_date = False
        for name, value in headers:
            lowered = name.lower()
            if lowered == b"content-length":
                if status == 204:
                    continue  # there is nothing, so it has no length; a client might wait for it
                has_length = True
            elif lowered == b"date":
                has_date = True
            elif lowered in _OF_CONNECTIONS:
                continue  # the connection's own matter
            lines.append(b"%b: %b\r\n" % (lowered, value))
        if not has_date:
            lines.append(wire.date_line())
        head = b"".join(lines)
        if head.count(b"\n") != len(lines) or head.count(b"\r") != len(lines) or b"\0" in head:
            raise RuntimeError("a header holds a line of its own")
        head += ready
        self._is_bare = self.request.method == "HEAD" or status in _BARE or status < 200
        self.is_chunked = not has_length and not self._is_bare
        if self._connection.server.is_leaving:
            self.request.keep_alive = False
        if self.request.version != "1.1" or not self._connection.may_stay(self.request):
            self.request.keep_alive = self._connection.may_stay(self.request)
            head += b"connection: keep-alive\r\n" if self.request.keep_alive else b"connection: close\r\n"
        return head

    # What is written by somebody else than the one who answers (`base/pipe.py`)

    def stay(self) -> None:
        self.is_lasting = True
        self._connection.expect_acknowledgements()

    def push(self, data: bytes) -> None:
        if self.is_started and not self.is_done and not self._connection.is_gone:
            self._connection.write(data)

    @property
    def unread(self) -> int:
        return self._connection.unsent()

    def stop(self, _code: int = 0, _reason: str = "") -> None:
        self.leave()

    # What somebody needs who passes the request on

    def take_long(self) -> None:
        """The body may take longer than one of ours, as long as it gets on."""
        self.is_long = True

    def cut(self) -> None:
        """End the connection at once: the answer cannot be finished, and its client must notice."""
        self._connection.cut()

    def _send_body(self, body: bytes, *, more: bool) -> None:
        if self.is_done or not self.is_started:
            raise RuntimeError("a body is out of place here")
        head, self._head = self._head, None
        if head is not None:
            head += self._framing(body, more=more) + b"\r\n"
        if self._is_bare:
            body = b""
        elif self.is_chunked:
            body = _chunk(body, is_last=not more)
        if head is not None and len(body) > TOGETHER:
            self._connection.write(head)
            self._connection.write(body)
        else:
            self._connection.write(head + body if head else body)
        if not more:
            self.is_done = True
            self._connection.answered(self)

    def _framing(self, body: bytes, *, more: bool) -> bytes:
        if not self.is_chunked:
            return b""
        if not more:
            self.is_chunked = False
            return b"content-length: %d\r\n" % len(body)
        if self.request.version == "1.1":
            return b"transfer-encoding: chunked\r\n"
        self.is_chunked = False  # a client that old reads until the connection ends
        self._connection.close_after()
        return b""


def _chunk(body: bytes, *, is_last: bool) -> bytes:
    piece = wire.chunk(body) if body else b""
    return piece + b"0\r\n\r\n" if is_last else piece
