"""One connection to an application: requests one after the other, and answers handed on as they come."""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
import msgspec

from kith.base.reading_turns import ReadingTurns

__all__ = ["UpstreamAnswer", "UpstreamConnection", "UpstreamFailed"]

MOST_HEAD = 64 * 1024
MOST_HELD = 256 * 1024  # of an answer that its client has not taken yet
PIECE = 16 * 1024  # of heads and chunks; more only when others have had their turn
MOST_NOISE = 128 * 1024  # sizes of chunks, extensions and trailers without any body
HEAD_SECONDS = 300.0  # for an application to begin its answer


class UpstreamFailed(Exception):  # noqa: N818 - the application did
    """The application gave no whole answer. `is_unheard`: it has not said anything, and may not have read anything."""

    def __init__(self, words: str, *, is_unheard: bool = False, is_late: bool = False) -> None:
        super().__init__(words)
        self.is_unheard = is_unheard
        self.is_late = is_late


class _UnreadableAnswer(Exception):  # noqa: N818 - a word to ourselves, through the parser
    """Where the answer ends could be read in two ways."""


class _UnaskedAnswer(Exception):  # noqa: N818 - a word to ourselves, through the parser
    """A second answer to one request."""


class UpstreamAnswer(msgspec.Struct, gc=False):
    """`body` is what has come of it by now; `is_whole`: nothing more comes."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    is_whole: bool


class UpstreamConnection(asyncio.Protocol):
    __slots__ = (
        "_answer", "_drained", "_error", "_has_end", "_head_size", "_headers", "_is_chunked", "_is_head", "_is_paused",
        "_is_still", "_is_whole", "_loop", "_noise", "_parser", "_pieces", "_rest", "_rest_at", "_size", "_status",
        "_timer", "_turns", "_waiter", "_waits", "_wants_socket", "_who", "is_kept", "is_open", "is_upgraded", "since",
        "transport", "used",
    )  # fmt: skip

    def __init__(self, turns: ReadingTurns, who: str) -> None:
        """`who` is the application, for which it waits for its turn."""
        self._loop = asyncio.get_running_loop()
        self._turns = turns
        self._who = who
        self._rest, self._rest_at = b"", 0  # has come, and is not read yet
        self._waits = self._is_still = False
        self.transport: Any = None
        self.is_open = False
        self.used = 0  # how many requests were made before
        self.since = 0.0
        self._drained: asyncio.Future[None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._parser: Any = None
        self._is_paused = False
        self._begin(is_head=False, wants_socket=False)
        self._is_whole = True  # nothing is asked yet

    def _begin(self, *, is_head: bool, wants_socket: bool) -> None:
        self._is_head = is_head
        self._wants_socket = wants_socket
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._status = 0
        self._has_end = False  # the answer says itself where it ends
        self._is_chunked = False
        self._noise = 0
        self._is_whole = False
        self._error: UpstreamFailed | None = None
        self.is_kept = False  # it may be used again after this answer
        self.is_upgraded = False

    # What is sent

    def ask(self, request: bytes, *, is_head: bool = False, wants_socket: bool = False) -> None:
        """Send the head of a request, perhaps with its body."""
        self._begin(is_head=is_head, wants_socket=wants_socket)
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

    def _take(self) -> bytes:
        pieces, self._pieces, self._size = self._pieces, [], 0
        self._is_paused = False
        self._mind_reading()
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
        self._rest, self._rest_at = b"", 0
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
        if self._is_cheap() and not self._rest:
            self._read(data)
        else:
            self._rest, self._rest_at = self._rest[self._rest_at :] + data, 0
            if not self._waits and self._turns.may_read(min(len(self._rest), PIECE)):
                self._read_piece()
        self._mind_reading()

    def _is_cheap(self) -> bool:
        """Whether what comes is only handed on, and costs no more than to copy it."""
        return self.is_upgraded or (self._status >= 200 and not self._is_chunked)

    def _read_piece(self) -> int:
        end = len(self._rest) if self._is_cheap() else min(len(self._rest), self._rest_at + PIECE)
        piece, self._rest_at = self._rest[self._rest_at : end], end
        if end == len(self._rest):
            self._rest, self._rest_at = b"", 0
        self._read(piece)
        if self._rest and (self._is_whole or not self.is_open or self._error is not None):
            self._end_in_doubt()
        return len(piece)

    def _read_on(self) -> int:
        self._waits = False
        weight = self._read_piece() if self._rest and not self._is_paused and self.is_open else 0
        self._mind_reading()
        return weight

    def _mind_reading(self) -> None:
        """What has come waits for its turn; nothing more is read meanwhile, nor while its client takes nothing."""
        if self._rest and not self._waits and not self._is_paused:
            self._waits = True
            self._turns.wait(self._who, self._read_on)
        is_still = self._is_paused or bool(self._rest)
        if is_still != self._is_still and self.is_open and not self.transport.is_closing():
            self._is_still = is_still
            self.transport.pause_reading() if is_still else self.transport.resume_reading()

    def _read(self, data: bytes) -> None:
        if self.is_upgraded:
            self._hold(data)
            self._wake()
            return
        if self._is_whole:
            self._end_in_doubt()
            return
        if not self._status:
            self._head_size += len(data)
        size = self._size
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._become_socket(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if self._is_whole:
                self._end_in_doubt()
            else:
                self._fail(UpstreamFailed(f"that is no HTTP answer: {error}"))
            return
        if self._status == 101 and not self.is_upgraded:
            self._fail(UpstreamFailed("it has left HTTP without being asked"))
        if not self._status and self._head_size > MOST_HEAD:
            self._fail(UpstreamFailed("the head of the answer does not end"))
        elif self._status:
            self._noise = self._noise + len(data) if self._is_chunked and self._size == size else 0
            if self._noise > MOST_NOISE:
                self._fail(UpstreamFailed("its answer is wrapping without a body"))
            self._wake()

    def _end_in_doubt(self) -> None:
        """More has come than was asked for: whatever it is, the next request must not be answered with it."""
        self.is_kept = self.is_open = False
        self._rest, self._rest_at = b"", 0
        self._wake()
        self.transport.abort()

    def _become_socket(self, rest: bytes) -> None:
        if self._wants_socket:
            self.is_upgraded = True
            self._hold(rest)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = self.is_kept = False
        self._rest = b""
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
        if self._is_whole:
            raise _UnaskedAnswer
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._status:
            return  # a trailer, which nobody who has read the head expects
        name = name.lower()
        if name == b"transfer-encoding" and (self._has_end or value.strip().lower() != b"chunked"):
            raise _UnreadableAnswer
        self._is_chunked = self._is_chunked or name == b"transfer-encoding"
        if name in (b"content-length", b"transfer-encoding"):
            self._has_end = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._parser.get_http_version() == "1.0" and any(name == b"transfer-encoding" for name, _ in self._headers):
            raise _UnreadableAnswer
        self._status = self._parser.get_status_code()
        if self._status >= 200 and self._is_head:
            # The parser would wait for the body that the head announces. Some applications do send one, perhaps later:
            # the connection is not used again, or it would be taken for the next answer.
            self._is_whole = True

    def on_body(self, body: bytes) -> None:
        if not self._is_whole:  # else it is the body of an answer that has none
            self._hold(body)

    def _hold(self, data: bytes) -> None:
        if not data:
            return
        self._pieces.append(data)
        self._size += len(data)
        self._is_paused = self._size > MOST_HELD

    def on_message_complete(self) -> None:
        if self._status < 200 and not self.is_upgraded:
            if self._status != 101:
                self._status = 0  # it says that there is more to come
            return
        if not self._is_head:
            self._is_whole = True
            self.is_kept = self._parser.should_keep_alive()
