"""One HTTP/1.1 connection: its requests one after the other, and how long it may keep the server waiting."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
import termios
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import httptools
import structlog

from kith.base.errors import Malformed, Problem
from kith.base.server import wire
from kith.base.server.call import MOST_HELD, Call, ClientGone, Request
from kith.base.server.proxies import plain
from kith.base.server.turns import CREDENTIALS, KNOWN, STRANGER
from kith.base.server.websocket import WebSocket, is_websocket

if TYPE_CHECKING:
    from kith.base.server.listening import Server

__all__ = ["HttpConnection"]

MOST_HEAD = 64 * 1024
MOST_HEADERS = 256
MOST_PATH = 4096  # without the query
MOST_IN_LINE = 8  # requests that were read although it was not their turn
TELL_SECONDS = 2.0  # for telling why it must go
STEP = 64 * 1024  # a body is handed over when it is whole, or this long; so much of it counts as getting on

_VERSIONS = ("1.1", "1.0")
_OF_BODIES = frozenset((b"content-length", b"transfer-encoding"))

_log = structlog.get_logger()


class Refused(Exception):  # noqa: N818 - a word to ourselves, through the parser
    """What was sent cannot be read; nothing after it can be either."""


class HttpConnection(asyncio.Protocol):
    __slots__ = (
        "_acked", "_call", "_credit", "_crowded", "_entered", "_has_begun", "_has_body", "_head_size", "_headers",
        "_in_head", "_is_closing", "_is_deaf", "_is_paused", "_is_proxy", "_line", "_looked_at", "_moved", "_noise",
        "_owed_since", "_parser", "_parted", "_paused_at", "_piece", "_refusal", "_request", "_rest", "_rest_at",
        "_told", "_url", "_websocket", "_written", "client", "drained", "is_gone", "is_known", "is_waiting", "loop",
        "register", "server", "since", "transport",
    )  # fmt: skip

    def __init__(self, server: Server) -> None:
        self.server = server
        self.loop = server.loop
        self.register = server.register
        self.transport: Any = None
        self.client = ("", 0)
        self.drained: asyncio.Future[None] | None = None  # while the client does not read
        self.is_gone = False
        self.is_known = False
        self.is_waiting = False
        self.since = 0.0
        self._parser: Any = None
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_head = False
        self._has_body = False
        self._head_size = 0
        self._piece = 0
        self._noise = 0
        self._refusal = (wire.BAD_REQUEST, "bad_request")
        self._request: Request | None = None  # whose body is arriving
        self._line: deque[Request] = deque()  # whole ones, whose turn it is not yet
        self._rest = b""  # what came after the present request
        self._rest_at = 0
        self._call: Call | None = None  # the one that is being answered
        self._websocket: WebSocket | None = None
        self._entered: str | None = None  # the address it is counted for
        self._crowded: Problem | None = None
        self._has_begun = False  # something has been sent
        self._is_proxy = False
        self._is_closing = False  # after what is being answered
        self._is_deaf = False  # nothing more is read
        self._is_paused = False
        self._paused_at = 0.0
        self._parted = False  # it must go, and counts no more
        self._told = False
        self._owed_since = 0.0
        self._written = 0
        self._acked = 0
        self._moved = 0
        self._looked_at = 0.0
        self._credit = 0.0  # seconds the client may still take

    # The transport's words

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        peer = transport.get_extra_info("peername") or ("", 0)
        self.client = (plain(peer[0]), peer[1])
        if not self.register.open():
            self.is_gone = self._is_closing = self._parted = True
            self.transport.write(wire.FULL)
            self.transport.close()
            return
        self.server.open.add(self)
        self._is_proxy = self.server.proxies.is_one(self.client[0])
        if not self._is_proxy:
            self._enter(self.client[0])
        self._owed_since = self.register.now
        self.register.wait_for(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self not in self.server.open:
            return
        self.server.open.discard(self)
        self._forget()
        self.register.close(parted=self._parted, told=self._told)
        self.is_gone = True
        if self.drained is not None and not self.drained.done():
            self.drained.set_exception(ClientGone())
            self.drained.exception()
        if self._websocket is not None:
            self._websocket.lost()
        if self._call is not None:
            self._call.leave()
        self._line.clear()
        self._rest = b""
        self._parser = None  # which knows this connection, as this connection knows it
        self.server.one_less()

    def data_received(self, data: bytes) -> None:
        if self._websocket is not None:
            self._websocket.feed(data)
        elif not self._is_deaf:
            self._has_begun = True
            if self._rest:
                self._rest += data
            else:
                self._read(data)

    def eof_received(self) -> bool:
        """A client may end its side after its last request; it is answered all the same."""
        self._is_closing = self._is_deaf = True
        if self._websocket is not None or self._call is None:
            return False
        if not self._call.request.is_whole:
            self._call.leave()
        return True

    def pause_writing(self) -> None:
        if self.drained is None:
            self.drained = self.loop.create_future()
        self._owe()
        self._acked = self._taken_by_client()
        self._turn()

    def resume_writing(self) -> None:
        drained, self.drained = self.drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)
        self._turn()

    # Reading requests

    def _read(self, data: bytes, at: int = 0) -> None:
        """One request at a time: what comes after it is left as it is until it is answered."""
        if self._parser is None:
            self._parser = httptools.HttpRequestParser(self)
        while at < len(data) and not self._is_deaf and self._websocket is None:
            if self._call is not None and self._request is None:
                self._rest, self._rest_at = data, at
                self._pause()
                break
            end = self._end_of_part(data, at)
            self._feed(data if end - at == len(data) else memoryview(data)[at:end])
            at = end
        if self._websocket is not None and at < len(data):
            self._websocket.feed(data[at:])
        self._turn()

    def _end_of_part(self, data: bytes, at: int) -> int:
        """Where the present head or body ends in `data`, if that can be known beforehand."""
        request = self._request
        if request is None:
            found = data.find(b"\r\n\r\n", at)
            return len(data) if found < 0 else found + 4
        return min(len(data), at + request.length - request.size) if request.length else len(data)

    def _feed(self, data: bytes | memoryview) -> None:
        body, size = self._request, self._request.size if self._request else 0
        self._piece = len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # where no WebSocket begins, what follows is an ordinary request
        except httptools.HttpParserInvalidMethodError:
            if wire.REQUEST_LINE.match(data):
                self._unreadable(wire.NOT_IMPLEMENTED, "unknown_method")
            else:
                self._unreadable(wire.BAD_REQUEST, "bad_request")
        except httptools.HttpParserError:
            self._unreadable(*self._refusal)
        else:
            if self._in_head or self._request is not None:
                self._weigh(len(data), size if body is self._request else 0)

    def _weigh(self, came: int, before: int) -> None:
        """A head that does not end, or a body of little but wrapping, is not read for ever."""
        if self._request is None:
            self._head_size += came
            if self._head_size > MOST_HEAD:
                self._unreadable(wire.HEAD_TOO_LARGE, "bad_request")
        else:
            self._noise += came - (self._request.size - before)
            if self._noise > 2 * MOST_HEAD + 8 * self._request.size:
                self._unreadable(wire.BAD_REQUEST, "bad_request")

    def on_message_begin(self) -> None:
        if self._is_closing:
            raise Refused
        self._url, self._headers, self._has_body = b"", [], False
        self._in_head, self._head_size = True, 0
        if self._call is None:
            self._owed_since = self.register.now

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in _OF_BODIES:
            self._has_body = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        headers, self._headers = self._headers, []  # what a trailer brings is not looked at
        if self._head_size + self._piece > MOST_HEAD:
            self._head_size = len(self._url) + sum(len(name) + len(value) + 4 for name, value in headers)
        if self._head_size > MOST_HEAD or len(headers) > MOST_HEADERS:
            self._refusal = (wire.HEAD_TOO_LARGE, "bad_request")
            raise Refused
        if len(self._url) > MOST_PATH and len(self._url.partition(b"?")[0]) > MOST_PATH:
            self._refusal = (wire.PATH_TOO_LONG, "bad_request")
            raise Refused
        parser, version = self._parser, self._parser.get_http_version()
        if version not in _VERSIONS:
            raise Refused
        request = Request(parser.get_method().decode(), self._url, headers, version)
        request.keep_alive = parser.should_keep_alive() and request.method != "CONNECT"
        request.is_upgrade = parser.should_upgrade() and is_websocket(request)
        self._request = request
        if self._has_body:
            self._body_begins(request)

    def _body_begins(self, request: Request) -> None:
        length = request.header(b"content-length")
        request.length = int(length) if length.isdigit() else 0
        request.expects = request.header(b"expect").lower() == b"100-continue"
        self._noise = 0
        self._owe()
        if self._is_proxy:
            self._caller_of(request)
        if self.is_waiting:
            self.register.wait_for(self)
        self._begin()

    def on_body(self, body: bytes) -> None:
        request = self._request
        if request is None:
            return
        request.body += body
        request.size += len(body)
        if self.is_waiting and request.size // STEP != (request.size - len(body)) // STEP:
            self.register.wait_for(self)
        if self._call is not None and self._call.request is request:
            self._call.wake()
        elif request.size >= STEP:
            self._begin()
        if len(request.body) > MOST_HELD:
            self._pause()

    def on_message_complete(self) -> None:
        request, self._request = self._request, None
        if request is None:
            return
        request.is_whole = True
        if self._call is not None and self._call.request is request:
            self._call.wake()
            return
        if len(self._line) >= MOST_IN_LINE or (request.is_upgrade and self._call is not None):
            raise Refused
        self._line.append(request)
        self._begin()

    def _unreadable(self, answer: bytes, reason: str) -> None:
        if not self._is_closing:
            self.register.count(reason)
        self._is_closing = self._is_deaf = True
        call = self._call
        if call is not None and not call.request.is_whole:
            call.refuse(Malformed())
        elif call is None:
            self.write(answer)
            self._end()

    # Answering them

    def _begin(self) -> None:
        """Start on the next request if it is its turn and enough of it is here."""
        if self._call is not None or self._websocket is not None:
            return
        if self._line:
            self._start(self._line.popleft())
        elif self._request is not None and self._is_ready(self._request):
            self._start(self._request)

    def _is_ready(self, request: Request) -> bool:
        return request.size >= STEP or request.expects or request.length > self.register.limits.max_body

    def _start(self, request: Request, refusal: Problem | None = None) -> None:
        client = self._caller_of(request) if self._is_proxy else self.client
        if self._crowded is not None and not _may_pass(request):
            refusal = refusal or self._crowded
            self.register.count("crowded" if refusal.status == 503 else "crowded_address")
        if request.is_upgrade and refusal is None:
            scope = request.scope("websocket", client, self.server.address)
            self._websocket = self.server.websocket(self, request, scope)
            return
        scope = request.scope("http", client, self.server.address)
        if refusal is not None:
            scope["refusal"] = refusal
            self.close_after()
        self._call = call = Call(self, request, scope)
        if refusal is not None:
            call.leave()
        turns = self.server.turns
        if turns.is_free():
            call.task = self.loop.create_task(self._run(call))
        else:
            turns.wait(self._rank(request), client[0], partial(self._begin_call, call))

    def _caller_of(self, request: Request) -> tuple[str, int]:
        """Who asks through a proxy; until they are answered they are counted like one who has come by themselves."""
        address = self.server.proxies.caller(self.client[0], request.headers)
        if self._entered is None:
            self._enter(address)
        return address, 0

    def _rank(self, request: Request) -> int:
        if self.is_known:
            return KNOWN
        return CREDENTIALS if _may_pass(request) else STRANGER

    def _begin_call(self, call: Call) -> None:
        if self.is_gone:
            self._call = None
        else:
            call.task = self.loop.create_task(self._run(call))

    async def _run(self, call: Call) -> None:
        try:
            await self.server.app(call.scope, call.receive, call.send)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001 - one request's fault is not the others'
            if not self.is_gone:  # else it is most likely what the framework makes of that
                _log.error("request.broken", exc_info=error)
        if self.is_gone:
            self._call = None
        elif not call.is_done:
            self._is_closing = True
            if not call.is_started:
                self.write(wire.FAILED)
            self.answered(call)

    def may_stay(self, request: Request) -> bool:
        """Whether the connection is used again after this request is answered."""
        return request.keep_alive and request.is_whole and (not self._is_closing or bool(self._line))

    def close_after(self) -> None:
        self._is_closing, self._rest = True, b""
        self._line.clear()

    def answered(self, call: Call) -> None:
        self._call = None
        self.is_known = self.is_known or "known" in call.scope
        if self._is_proxy:
            self._leave()
        if not self.may_stay(call.request):
            self._end(lingers=not call.request.is_whole)
            return
        self._owed_since = self.register.now
        self._begin()
        if self._call is None and self._rest:
            rest, self._rest = self._rest, b""
            self._read(rest, self._rest_at)
        self._resume()
        self._turn()

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    def body_taken(self) -> None:
        if self._is_paused:
            self._resume()
            self._turn()

    def _pause(self) -> None:
        if not self._is_paused and not self.transport.is_closing():
            self._is_paused, self._paused_at = True, self.register.now
            self.transport.pause_reading()

    def _resume(self) -> None:
        is_held = self._line or self._rest or (self._request is not None and len(self._request.body) > MOST_HELD)
        if self._is_paused and not is_held and not self.transport.is_closing():
            self._is_paused = False
            self._owed_since += self.register.now - self._paused_at
            self._looked_at = self.register.now
            self.transport.resume_reading()

    # Whose turn it is, and for how long

    def _enter(self, address: str) -> None:
        self._entered = address
        self._crowded = self.register.enter(self, address) or self.register.full()

    def _leave(self) -> None:
        if self._entered is not None:
            self.register.leave(self, self._entered)
            self._entered = None

    def _turn(self) -> None:
        if self.is_gone or self._parted:
            return
        if self._line:
            self._pause()
        call = self._call
        is_theirs = (
            call is None or self.drained is not None or not (call.request.is_whole or self._is_paused)
        ) and self._websocket is None
        if is_theirs and not self.is_waiting:
            self.register.wait_for(self)
        elif not is_theirs and self.is_waiting:
            self.register.work_on(self)

    def overdue(self, now: float) -> str:
        limits = self.register.limits
        if self._websocket is not None:
            return self._websocket.overdue(now)
        request = self._call.request if self._call is not None else self._request
        if self.drained is not None or (self._is_closing and request is None):
            return "slow_reader" if self._is_late(now, self._taken_by_client() - self._acked) else ""
        if request is not None:
            is_over = now - self._owed_since > limits.body_seconds
            return "slow_body" if is_over or self._is_late(now, request.size) else ""
        if self._in_head or not self._has_begun:
            return "slow_head" if now - self._owed_since > limits.head_seconds else ""
        idle = limits.known_idle_seconds if self.is_known or self._is_proxy else limits.idle_seconds
        return "idle" if now - self._owed_since > idle else ""

    def _owe(self) -> None:
        """The client's next step is awaited from now on: a body, or the reading of an answer."""
        self._owed_since = self._looked_at = self.register.now
        self._credit, self._moved = self.register.limits.grace_seconds, 0

    def _is_late(self, now: float, moved: int) -> bool:
        """Whether less comes, or is taken, than even a slow line brings. What moves buys time, up to a limit."""
        limits = self.register.limits
        passed, gained = now - self._looked_at, moved - self._moved
        self._looked_at, self._moved = now, moved
        if limits.least_rate:
            self._credit = min(self._credit + gained / limits.least_rate, limits.silence_seconds) - passed
        else:
            self._credit = limits.silence_seconds if gained else self._credit - passed
        return self._credit < 0

    def _taken_by_client(self) -> int:
        """How much of what was written has reached the other side."""
        try:
            fd = self.transport.get_extra_info("socket").fileno()
            (queued,) = struct.unpack("i", fcntl.ioctl(fd, termios.TIOCOUTQ, b"\0\0\0\0"))
        except (OSError, ValueError):
            queued = 0
        return int(self._written - self.transport.get_write_buffer_size() - queued)

    def give_way(self, reason: str, problem: Problem) -> None:
        """Go; whoever has said what they want is told why."""
        if self._parted or self.is_gone:
            return
        if reason != "idle":
            self.register.count(reason)
        is_asked = self._call is not None or self._request is not None
        self._told = is_asked and self.drained is None and not self._is_deaf and self.register.may_tell()
        self.register.part(tells=self._told)
        self._parted = self._is_closing = self._is_deaf = True
        self._forget()
        if self._websocket is not None:
            self._websocket.end(1013)
        elif self._told:
            self._tell(problem)
        elif is_asked or self.drained is not None:
            self.cut()
        else:
            if self._in_head or (not self._has_begun and reason != "slow_head"):
                self.write(wire.REFUSALS[problem.status])
            self._end()

    def _tell(self, problem: Problem) -> None:
        self.loop.call_later(TELL_SECONDS, self.cut)
        if self._call is None and self._request is not None:
            self._start(self._request, problem)
        elif self._call is not None and not self._call.refuse(problem):
            self.cut()

    def tasks(self) -> list[asyncio.Task[None]]:
        owner = self._call or self._websocket
        return [owner.task] if owner is not None and owner.task is not None else []

    def finish(self) -> None:
        """The server stops: what is under way is answered, nothing more is begun."""
        self.close_after()
        if self._websocket is not None:
            self._websocket.end(1001)
        elif self._call is None and self._request is None:
            self._end()

    def _end(self, *, lingers: bool = False) -> None:
        """Close it; where a body is still coming, only our side, so that the client lives to read the answer."""
        self._is_closing = True
        self._owe()
        self._acked = self._taken_by_client()
        self._turn()
        if lingers or (self._parted and self.transport.get_write_buffer_size()):
            self.loop.call_later(TELL_SECONDS, self.cut)
        if lingers and self.transport.can_write_eof() and not self.transport.is_closing():
            self._is_deaf = True
            if self._is_paused:
                self._is_paused = False
                self.transport.resume_reading()
            self.transport.write_eof()
        else:
            self.transport.close()

    def cut(self) -> None:
        """End it at once. What the client has not read is thrown away too: the system would keep it for minutes."""
        if self.is_gone:
            return
        try:
            with socket.socket(fileno=os.dup(self.transport.get_extra_info("socket").fileno())) as same:
                same.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass  # it is closed already
        self.transport.abort()

    def _forget(self) -> None:
        self.register.work_on(self)
        self._leave()


def _may_pass(request: Request) -> bool:
    """The last places are for those who bring a sign of being known, and for whoever asks whether we are alive."""
    return bool(request.header(b"authorization") or request.header(b"cookie")) or request.path == b"/health"
