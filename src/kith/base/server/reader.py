"""From bytes to requests, one at a time.

The parser is strict about where a request ends. What it leaves to its user is decided here and in `targets.py`:
which requests may ask for another protocol, and which host a request is for.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

import httptools

from kith.base.server import wire
from kith.base.server.call import MOST_HELD, Request
from kith.base.server.targets import is_host, read_target
from kith.base.server.websocket import is_websocket

if TYPE_CHECKING:
    from kith.base.server.http import HttpConnection

__all__ = ["STEP", "Reader"]

MOST_HEAD = 64 * 1024
MOST_HEADERS = 256
MOST_PATH = 4096  # without the query
MOST_IN_LINE = 8  # requests that were read although it was not their turn
STEP = 64 * 1024  # a body is handed over when it is whole, or this long; so much of it counts as getting on

LITTLE = 4096  # so much is read at once, whoever else waits
PIECE = 16 * 1024  # more than that of one connection only in its next turn
MOST_BLANK = 32  # line ends before a request
MOST_FRAMING = 64 * 1024  # sizes of chunks, extensions and trailers; and twice as much as the body

_BLANK = re.compile(rb"[\r\n]*")
_VERSIONS = ("1.1", "1.0")
_OF_BODIES = frozenset((b"content-length", b"transfer-encoding"))
_LONGEST_LENGTH = 18  # digits, so that it fits a number of 64 bits in whatever stands behind us


class UnreadableRequest(Exception):  # noqa: N818 - a word to ourselves, through the parser
    """What was sent cannot be read; nothing after it can be either."""


class Reader:
    """What comes after a request is left as it is until that is answered."""

    __slots__ = (
        "_blank", "_connection", "_framing", "_has_body", "_head_size", "_headers", "_host", "_noise", "_parser",
        "_piece", "_refusal", "_rest_at", "_turns", "_url", "_waits", "in_head", "line", "request", "rest",
    )  # fmt: skip

    def __init__(self, connection: HttpConnection) -> None:
        self._connection = connection
        self._turns = connection.server.reading_turns
        self._waits = False  # for its turn to read on
        self._parser: Any = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._has_body = False
        self._host: bytes | None = None
        self._head_size = 0
        self._piece = 0
        self._noise = 0  # since there was any more of the body
        self._framing = 0  # all that came of the request after its head, and is not of the body
        self._blank = 0
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
        elif len(data) <= LITTLE or self._turns.may_read(min(self._weight(len(data)), PIECE)):
            self._read(data, 0)
        else:
            self._put_aside(data, 0)

    def go_on(self) -> None:
        """The last request is answered."""
        if self.rest and not self._waits and self._connection.call is None:
            rest, self.rest = self.rest, b""
            self._read(rest, self._rest_at)

    def drop(self) -> None:
        self.rest = b""
        self.line.clear()

    def forget(self) -> None:
        self.drop()
        self._parser = None  # which knows this reader, as this reader knows it

    def _read(self, data: bytes, at: int) -> int:
        """Read on until the present request is there, or enough is read for now; what that weighed."""
        connection = self._connection
        if self._parser is None:
            self._parser = httptools.HttpRequestParser(self)
        weight = 0
        while at < len(data) and not connection.is_deaf and connection.websocket is None:
            if self.request is None and connection.call is not None:
                self.rest, self._rest_at = data, at
                connection.pause()
                break
            if self.request is None and not self.in_head and data[at] in b"\r\n":
                at = self._skip_blank(data, at)
                continue
            if weight >= PIECE:
                self._put_aside(data, at)
                break
            end = self._end_of_part(data, at)
            weight += self._weight(end - at)
            self._feed(data if end - at == len(data) else memoryview(data)[at:end])
            at = end
        if connection.websocket is not None and at < len(data):
            connection.websocket.feed(data[at:])
        connection.turn()
        return weight

    def _weight(self, size: int) -> int:
        """Of a body whose length was told every byte is only copied."""
        return size >> 3 if self.request is not None and self.request.length else size

    def _put_aside(self, data: bytes, at: int) -> None:
        """The rest is read when others have had their turn."""
        self.rest, self._rest_at, self._waits = data, at, True
        self._connection.pause()
        self._turns.wait(self._connection.client[0], self._read_on)

    def _read_on(self) -> int:
        self._waits = False
        connection = self._connection
        if not self.rest or connection.is_gone or (self.request is None and connection.call is not None):
            return 0
        rest, self.rest = self.rest, b""
        weight = self._read(rest, self._rest_at)
        connection.body_taken()
        return weight

    def _skip_blank(self, data: bytes, at: int) -> int:
        """A few empty lines may stand before a request; whoever sends nothing else is not listened to."""
        found = _BLANK.match(data, at)
        end = found.end() if found is not None else at
        self._blank += end - at
        if self._blank > MOST_BLANK:
            self._connection.unreadable(wire.BAD_REQUEST, "bad_request")
        return end

    def _end_of_part(self, data: bytes, at: int) -> int:
        """Where the present head or body ends in `data`, if that can be known beforehand."""
        request = self.request
        if request is not None and request.length:
            return min(len(data), at + request.length - request.size)
        most = min(len(data), at + PIECE)
        if request is not None:
            return most
        found = data.find(b"\r\n\r\n", at, most)
        return most if found < 0 else found + 4

    def _feed(self, data: bytes | memoryview) -> None:
        body, size = self.request, self.request.size if self.request else 0
        self._piece = len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # the parser reads no further; a WebSocket begins, or the connection ends after the answer
        except httptools.HttpParserInvalidMethodError:
            if wire.REQUEST_LINE.match(data):
                self._connection.unreadable(wire.NOT_IMPLEMENTED, "unknown_method")
            else:
                self._connection.unreadable(wire.BAD_REQUEST, "bad_request")
        except httptools.HttpParserError:
            self._connection.unreadable(*self._refusal)
        else:
            if self.request is not None:
                if not self.request.length:
                    self._weigh_framing(len(data), self.request.size - (size if self.request is body else 0))
            elif self.in_head:
                self._head_size += len(data)
                if self._head_size > MOST_HEAD:
                    self._connection.unreadable(wire.HEAD_TOO_LARGE, "bad_request")

    def _weigh_framing(self, came: int, grew: int) -> None:
        """Chunks of a byte, extensions and trailers cost far more than they bring, so they are not read for ever."""
        request = self.request
        self._framing += came - grew
        self._noise = 0 if grew else self._noise + came
        if request and (self._framing > MOST_FRAMING + 2 * request.size or self._noise > MOST_FRAMING):
            self._connection.unreadable(wire.BAD_REQUEST, "bad_request")

    # What the parser calls

    def on_message_begin(self) -> None:
        if self._connection.is_closing:
            raise UnreadableRequest
        self._url, self._headers, self._has_body, self._host = b"", [], False, None
        self.in_head, self._head_size, self._blank = True, 0, 0
        self._connection.head_begins()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _OF_BODIES:
            self._has_body = True
        elif name == b"host":
            if self._host is not None:
                raise UnreadableRequest  # what stands behind us might believe the other one
            self._host = value
        self._headers.append((name, value))
        if len(self._headers) > MOST_HEADERS:
            if self.request is None:
                self._refusal = (wire.HEAD_TOO_LARGE, "bad_request")
            raise UnreadableRequest

    def on_headers_complete(self) -> None:
        self.in_head = False
        headers, self._headers = self._headers, []  # what a trailer brings is not looked at
        self._check_size(headers)
        parser, version = self._parser, self._parser.get_http_version()
        if version not in _VERSIONS or (version == "1.1" and self._host is None):
            raise UnreadableRequest
        self.request = request = Request(parser.get_method().decode(), self._url, headers, version)
        self._check_target(request)
        request.keep_alive = parser.should_keep_alive()
        if self._has_body:
            self._read_framing(request)
        if parser.should_upgrade():
            self._check_upgrade(request)
        if self._has_body:
            request.expects = request.header(b"expect").lower() == b"100-continue"
            self._noise = self._framing = 0
            self._connection.body_begins(request)

    def _check_target(self, request: Request) -> None:
        """A target that names a host decides which host is asked; what the `Host` header says then is not believed.

        A proxy that says two things has been misled by its client, and has judged the request by the other one.
        """
        host = read_target(request.method, request.target)
        if host is None:
            raise UnreadableRequest
        if host:
            if self._connection.is_proxy and host.lower() != (self._host or b"").lower():
                raise UnreadableRequest
            request.headers[:] = [one for one in request.headers if one[0] != b"host"]
            request.headers.append((b"host", host))
        elif self._host is not None and not is_host(self._host):
            raise UnreadableRequest

    def _read_framing(self, request: Request) -> None:
        """One way of saying how long the body is, and only one that every server in front of us reads as we do."""
        length, coding = request.header(b"content-length").strip(), request.header(b"transfer-encoding")
        if coding:
            count = sum(name == b"transfer-encoding" for name, _ in request.headers)
            if request.version != "1.1" or coding.strip().lower() != b"chunked" or count > 1:
                raise UnreadableRequest
        elif not length.isdigit() or len(length) > _LONGEST_LENGTH:
            raise UnreadableRequest
        request.length = int(length or b"0")

    def _check_upgrade(self, request: Request) -> None:
        """The parser stops at a wish for another protocol and would take a body for the next request.

        A proxy in front may take a wish for granted and hand on whatever its client sends from then on. So a wish
        that is not for a WebSocket, or not a right one, is answered as if it had not been made, and is the last.
        """
        if self._has_body and (request.length or request.header(b"transfer-encoding")):
            raise UnreadableRequest
        request.is_upgrade = is_websocket(request)
        request.leaves_unread = request.keep_alive and not request.is_upgrade
        request.keep_alive = request.keep_alive and request.is_upgrade

    def _check_size(self, headers: list[tuple[bytes, bytes]]) -> None:
        if self._head_size + self._piece > MOST_HEAD:
            self._head_size = len(self._url) + sum(len(name) + len(value) + 4 for name, value in headers)
        if self._head_size > MOST_HEAD:
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
