"""One connection to an application: requests one after the other, and answers handed on as they come."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
import msgspec

__all__ = ["UpstreamAnswer", "UpstreamConnection", "UpstreamFailed"]

MOST_HEAD = 64 * 1024
MOST_HELD = 256 * 1024  # of an answer that its client has not taken yet
HEAD_SECONDS = 300.0  # for an application to begin its answer


class UpstreamFailed(Exception):  # noqa: N818 - the application did
    """The application gave no whole answer. `is_unheard`: it has not said anything, and may not have read anything."""

    def __init__(self, words: str, *, is_unheard: bool = False, is_late: bool = False) -> None:
        super().__init__(words)
        self.is_unheard = is_unheard
        self.is_late = is_late


class UpstreamAnswer(msgspec.Struct, gc=False):
    """`body` is what has come of it by now; `is_whole`: nothing more comes."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    is_whole: bool


class UpstreamConnection(asyncio.Protocol):
    __slots__ = (
        "_answer", "_drained", "_error", "_has_end", "_head_size", "_headers", "_is_head", "_is_paused", "_is_whole",
        "_loop", "_parser", "_pieces", "_rest", "_size", "_status", "_timer", "_waiter", "is_kept", "is_open",
        "is_upgraded", "since", "transport", "used",
    )  # fmt: skip

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.transport: Any = None
        self.is_open = False
        self.used = 0  # how many requests were made before
        self.since = 0.0
        self._drained: asyncio.Future[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._parser: Any = None
        self._is_paused = False
        self._begin(is_head=False)

    def _begin(self, *, is_head: bool) -> None:
        self._is_head = is_head
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._status = 0
        self._has_end = False  # the answer says itself where it ends
        self._is_whole = False
        self._error: UpstreamFailed | None = None
        self._rest = b""
        self.is_kept = False  # it may be used again after this answer
        self.is_upgraded = False

    # What is sent

    def ask(self, request: bytes, *, is_head: bool) -> None:
        """Send the head of a request, perhaps with its body."""
        self._begin(is_head=is_head)
        if self._parser is None:
            self._parser = httptools.HttpResponseParser(self)
        self._timer = self._loop.call_later(HEAD_SECONDS, self._too_late)
        self.transport.write(request)

    async def write(self, data: bytes) -> None:
        """More of the request; waits while the application does not read."""
        if self._drained is not None:
            await self._drained
        if not self.is_open:
            raise self._error or UpstreamFailed("it has gone")
        self.transport.write(data)

    def write_now(self, data: bytes) -> bool:
        """The same without waiting; False if the application has enough for now."""
        if self.is_open:
            self.transport.write(data)
        return self._drained is None

    async def until_drained(self) -> None:
        if self._drained is not None:
            await self._drained

    # What is answered

    async def answer(self) -> UpstreamAnswer:
        """The head of the answer, with what came at once after it."""
        while not self._status or (self._status < 200 and not self.is_upgraded):
            self._raise()
            await self._more()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return UpstreamAnswer(self._status, self._headers, self._take(), self._is_whole)

    async def piece(self) -> bytes:
        """The next piece of the body, empty when that was all."""
        while not self._pieces and not self._is_whole:
            self._raise()
            await self._more()
        return self._take()

    def rest(self) -> bytes:
        """What came after the head of an answer that makes a socket of the connection."""
        rest, self._rest = self._rest, b""
        return rest

    def _take(self) -> bytes:
        pieces, self._pieces, self._size = self._pieces, [], 0
        if self._is_paused and self.is_open:
            self._is_paused = False
            self.transport.resume_reading()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    async def _more(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def abort(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.transport is not None:
            self.transport.abort()

    def _too_late(self) -> None:
        self._fail(UpstreamFailed("it has not answered in time", is_late=True))

    def _fail(self, error: UpstreamFailed) -> None:
        if self._error is None:
            self._error = error
        self.abort()
        self._wake()

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.is_open = transport, True

    def data_received(self, data: bytes) -> None:
        if self.is_upgraded:
            self._hold(data)
            self._wake()
            return
        if self._timer is None and not self._status:  # nobody has asked
            self.abort()
            return
        if not self._status:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.is_upgraded = True
            self._hold(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if not self._is_whole:
                self._fail(UpstreamFailed(f"that is no HTTP answer: {error}"))
            return
        if not self._status and self._head_size > MOST_HEAD:
            self._fail(UpstreamFailed("the head of the answer does not end"))
        elif self._status:
            self._wake()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = self.is_kept = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None
        if self._status >= 200 and not self._has_end and not self._is_whole and exc is None:
            self._is_whole = True  # it goes on until the connection ends
        elif self.is_upgraded:
            self._is_whole = True
        elif not self._is_whole and self._error is None:
            words = "it has ended the connection" if exc is None else str(exc)
            self._error = UpstreamFailed(words, is_unheard=not self._head_size)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wake()
        self._parser = None  # which knows this connection, as this connection knows it

    def pause_writing(self) -> None:
        if self._drained is None:
            self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    # What the parser calls

    def on_message_begin(self) -> None:
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in (b"content-length", b"transfer-encoding"):
            self._has_end = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        if self._status >= 200 and self._is_head:
            # The parser would wait for the body that the head announces.
            self._is_whole, self.is_kept = True, self._parser.should_keep_alive()
            self._parser = httptools.HttpResponseParser(self)

    def on_body(self, body: bytes) -> None:
        self._hold(body)

    def _hold(self, data: bytes) -> None:
        if not data:
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MOST_HELD and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()

    def on_message_complete(self) -> None:
        if self._status < 200 and not self.is_upgraded:
            if self._status != 101:
                self._status = 0  # it says that there is more to come
            return
        if not self._is_head:
            self._is_whole = True
            self.is_kept = self._parser.should_keep_alive()
