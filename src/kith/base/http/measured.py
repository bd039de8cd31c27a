"""Answers as they come over the wire, measured before the HTTP library reads them.

It reads on the event loop, and counts only what an answer holds. A body in chunks of a byte, or words without end
before the answer itself, cost a thousand times what they bring. So everything that comes is counted here, and only so
much of it is read each time the loop goes round.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler

from kith.base.http.failures import WastefulAnswer
from kith.base.reading_turns import ReadingTurns
from kith.base.tls import CostlyTls

if TYPE_CHECKING:
    from aiohttp.http import RawResponseMessage

__all__ = ["measured_connector"]

MOST_FRAMING = 64 * 1024  # heads, sizes of chunks and trailers; and as much again as the body
MOST_WORDS = 8  # that come before the answer itself: `100 Continue`, `103 Early Hints`
COSTLY_PIECE, COSTLY_WEIGHT = 4 * 1024, 16 * 1024  # of heads, chunks and what must be unpacked
PLAIN_PIECE, PLAIN_WEIGHT = 64 * 1024, 8 * 1024


def measured_connector(**settings: Any) -> aiohttp.TCPConnector:
    """The library's own, but for what receives its answers."""
    connector = aiohttp.TCPConnector(**settings)
    loop = asyncio.get_running_loop()
    factory: Any = partial(_MeasuredHandler, loop, ReadingTurns(loop))  # one that makes a kind of what it wants
    connector._factory = factory
    return connector


class _MeasuredHandler(ResponseHandler):
    def __init__(self, loop: asyncio.AbstractEventLoop, turns: ReadingTurns) -> None:
        super().__init__(loop)
        self._turns = turns
        self._source: Any = None  # the transport itself
        self._host = ""
        self._rest, self._rest_at = b"", 0  # has come, and is not read yet
        self._waits = self._is_held = self._is_still = False
        self._begin()

    def _begin(self) -> None:
        self._seen = self._words = 0
        self._is_costly = True  # as heads are
        self._body: aiohttp.StreamReader | None = None

    # What the library calls

    def set_response_params(self, **params: Any) -> None:
        """One more request is made."""
        self._begin()
        super().set_response_params(**params)

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """The head of an answer was read, or a word before it."""
        message, body = data
        if message.code < 200 and message.code != 101:
            self._words += 1
        else:
            self._body = body
            self._is_costly = message.chunked or bool(message.compression)
        super().feed_data(data, size)

    def hold(self, *, still: bool) -> None:
        """The library has enough for now, or wants more."""
        self._is_held = still
        if not still and self._rest:
            self._wait_for_turn()
        self._mind_reading()

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._source = transport
        self._host = str((transport.get_extra_info("peername") or ("?",))[0])
        super().connection_made(cast("asyncio.Transport", _HeldTransport(transport, self)))

    def connection_lost(self, exc: BaseException | None) -> None:
        self._rest, self._source = b"", None
        is_costly = isinstance(exc, CostlyTls)
        super().connection_lost(WastefulAnswer("an answer that is TLS and little else") if is_costly else exc)

    def data_received(self, data: bytes) -> None:
        if not data:  # the library goes on with what it has kept
            super().data_received(data)
            return
        is_first = not self._rest
        self._rest, self._rest_at = self._rest[self._rest_at :] + data, 0
        if is_first and not self._is_held and self._turns.may_read(self._weight()):
            self._read()
        else:
            self._wait_for_turn()
        self._mind_reading()

    def _weight(self) -> int:
        return COSTLY_WEIGHT if self._is_costly else PLAIN_WEIGHT

    def _read(self) -> None:
        end = self._rest_at + (COSTLY_PIECE if self._is_costly else PLAIN_PIECE)
        piece, self._rest_at = self._rest[self._rest_at : end], end
        if end >= len(self._rest):
            self._rest, self._rest_at = b"", 0
        self._seen += len(piece)
        super().data_received(piece)
        body = self._body.total_bytes if self._body is not None else 0
        if self._words > MOST_WORDS or self._seen > MOST_FRAMING + 2 * body:
            self._refuse()
        elif self._rest:
            self._wait_for_turn()

    def _refuse(self) -> None:
        body, error = self._body, WastefulAnswer("an answer that is wrapping and little else")
        self._rest, self._rest_at = b"", 0
        self.abort()
        self.set_exception(error)
        if body is not None and not body.is_eof():
            body.set_exception(error)

    def _wait_for_turn(self) -> None:
        if not self._waits and not self._is_held:
            self._waits = True
            self._turns.wait(self._host, self._read_on)

    def _read_on(self) -> int:
        self._waits = False
        if not self._rest or self._is_held or self.transport is None:
            return 0
        weight = self._weight()
        self._read()
        self._mind_reading()
        return weight

    def _mind_reading(self) -> None:
        is_still = self._is_held or bool(self._rest)
        if is_still != self._is_still and self._source is not None and not self._source.is_closing():
            self._is_still = is_still
            self._source.pause_reading() if is_still else self._source.resume_reading()


class _HeldTransport:
    """The connection as the library has it: where it asks for a pause, what has come already waits as well."""

    def __init__(self, transport: asyncio.BaseTransport, handler: _MeasuredHandler) -> None:
        self._transport = transport
        self._handler = handler

    def pause_reading(self) -> None:
        self._handler.hold(still=True)

    def resume_reading(self) -> None:
        self._handler.hold(still=False)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
