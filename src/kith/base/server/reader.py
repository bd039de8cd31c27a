"""From bytes to requests, one at a time."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import httptools

from kith.base.server import wire
from kith.base.server.call import MOST_HELD, Request
from kith.base.server.websocket import is_websocket

if TYPE_CHECKING:
    from kith.base.server.http import HttpConnection

__all__ = ["STEP", "Reader"]

MOST_HEAD = 64 * 1024
MOST_HEADERS = 256
MOST_PATH = 4096  # without the query
MOST_IN_LINE = 8  # requests that were read although it was not their turn
STEP = 64 * 1024  # a body is handed over when it is whole, or this long; so much of it counts as getting on

_VERSIONS = ("1.1", "1.0")
_OF_BODIES = frozenset((b"content-length", b"transfer-encoding"))


class UnreadableRequest(Exception):  # noqa: N818 - a word to ourselves, through the parser
    """What was sent cannot be read; nothing after it can be either."""


class Reader:
    """What comes after a request is left as it is until that is answered."""

    __slots__ = (
        "_connection", "_has_body", "_has_host", "_head_size", "_headers", "_noise", "_parser", "_piece", "_refusal",
        "_rest_at", "_url", "in_head", "line", "request", "rest",
    )  # fmt: skip

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self._parser: Any = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._has_body = False
        self._has_host = False
        self._head_size = 0
        self._piece = 0
        self._noise = 0
        self._refusal = (wire.BAD_REQUEST, "bad_request")
        self._rest_at = 0
        self.in_head = False
        self.request: Request | None = None  # whose body is arriving
        self.line: deque[Request] = deque()  # whole ones, whose turn it is not yet
        self.rest = b""  # not read yet

    def take(self, data: bytes) -> None:
        if self.rest:
            self.rest = self.rest[self._rest_at :] + data
            self._rest_at = 0
        else:
            self._read(data, 0)

    def go_on(self) -> None:
        """The last request is answered."""
        if self.rest and self._connection.call is None:
            rest, self.rest = self.rest, b""
            self._read(rest, self._rest_at)

    def drop(self) -> None:
        self.rest = b""
        self.line.clear()

    def forget(self) -> None:
        self.drop()
        self._parser = None  # which knows this reader, as this reader knows it

    def _read(self, data: bytes, at: int) -> None:
        connection = self._connection
        if self._parser is None:
            self._parser = httptools.HttpRequestParser(self)
        while at < len(data) and not connection.is_deaf and connection.websocket is None:
            if connection.call is not None and self.request is None:
                self.rest, self._rest_at = data, at
                connection.pause()
                break
            end = self._end_of_part(data, at)
            self._feed(data if end - at == len(data) else memoryview(data)[at:end])
            at = end
        if connection.websocket is not None and at < len(data):
            connection.websocket.feed(data[at:])
        connection.turn()

    def _end_of_part(self, data: bytes, at: int) -> int:
        """Where the present head or body ends in `data`, if that can be known beforehand."""
        request = self.request
        if request is None:
            found = data.find(b"\r\n\r\n", at)
            return len(data) if found < 0 else found + 4
        return min(len(data), at + request.length - request.size) if request.length else len(data)

    def _feed(self, data: bytes | memoryview) -> None:
        body, size = self.request, self.request.size if self.request else 0
        self._piece = len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # where no WebSocket begins, what follows is an ordinary request
        except httptools.HttpParserInvalidMethodError:
            if wire.REQUEST_LINE.match(data):
                self._connection.unreadable(wire.NOT_IMPLEMENTED, "unknown_method")
            else:
                self._connection.unreadable(wire.BAD_REQUEST, "bad_request")
        except httptools.HttpParserError:
            self._connection.unreadable(*self._refusal)
        else:
            if self.in_head or self.request is not None:
                self._weigh(len(data), grew=body is self.request and body is not None and body.size > size)

    def _weigh(self, came: int, *, grew: bool) -> None:
        """A head that does not end, or wrapping and trailers without a body, is not read for ever."""
        if self.request is None:
            self._head_size += came
            if self._head_size > MOST_HEAD:
                self._connection.unreadable(wire.HEAD_TOO_LARGE, "bad_request")
        else:
            self._noise = 0 if grew else self._noise + came
            if self._noise > 2 * MOST_HEAD and not self.request.length:
                self._connection.unreadable(wire.BAD_REQUEST, "bad_request")

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._connection.is_closing:
            raise UnreadableRequest
        self._url, self._headers, self._has_body, self._has_host = b"", [], False, False
        self.in_head, self._head_size = True, 0
        self._connection.head_begins()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _OF_BODIES:
            self._has_body = True
        elif name == b"host":
            if self._has_host:
                raise UnreadableRequest  # what stands behind us might believe the other one
            self._has_host = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.in_head = False
        headers, self._headers = self._headers, []  # what a trailer brings is not looked at
        self._check_size(headers)
        parser, version = self._parser, self._parser.get_http_version()
        if version not in _VERSIONS:
            raise UnreadableRequest
        self.request = request = Request(parser.get_method().decode(), self._url, headers, version)
        request.keep_alive = parser.should_keep_alive() and request.method != "CONNECT"
        request.is_upgrade = parser.should_upgrade() and is_websocket(request)
        if self._has_body:
            length = request.header(b"content-length")
            request.length = int(length) if length.isdigit() else 0
            request.expects = request.header(b"expect").lower() == b"100-continue"
            self._noise = 0
            self._connection.body_begins(request)

    def _check_size(self, headers: list[tuple[bytes, bytes]]) -> None:
        if self._head_size + self._piece > MOST_HEAD:
            self._head_size = len(self._url) + sum(len(name) + len(value) + 4 for name, value in headers)
        if self._head_size > MOST_HEAD or len(headers) > MOST_HEADERS:
            self._refusal = (wire.HEAD_TOO_LARGE, "bad_request")
            raise UnreadableRequest
        if len(self._url) > MOST_PATH and len(self._url.partition(b"?")[0]) > MOST_PATH:
            self._refusal = (wire.PATH_TOO_LONG, "bad_request")
            raise UnreadableRequest

    def on_body(self, body: bytes) -> None:
        request, connection = self.request, self._connection
        if request is None:
            return
        request.body += body
        request.size += len(body)
        if request.size // STEP != (request.size - len(body)) // STEP:
            connection.got_on()
        if connection.call is not None and connection.call.request is request:
            connection.call.wake()
        elif request.size >= STEP:
            connection.begin()
        if len(request.body) > MOST_HELD:
            connection.pause()

    def on_message_complete(self) -> None:
        request, self.request = self.request, None
        call = self._connection.call
        if request is None:
            return
        request.is_whole = True
        if call is not None and call.request is request:
            call.wake()
            return
        if len(self.line) >= MOST_IN_LINE or (request.is_upgrade and call is not None):
            raise UnreadableRequest
        self.line.append(request)
        self._connection.begin()
