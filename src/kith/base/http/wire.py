"""One connection on which requests are made one after the other, and the head of each answer is read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import httptools
import msgspec

from kith.base.http.failures import OutgoingError

__all__ = ["PostAnswer", "PostConnection"]

READ_SECONDS = 10.0  # of silence
TOTAL_SECONDS = 30.0
MOST_HEAD = 32 * 1024
MOST_BODY = 64 * 1024
MOST_WORDS = 8  # that come before the answer itself
PIECE = 4 * 1024
_WANTED = frozenset({b"retry-after"})


class PostAnswer(msgspec.Struct, frozen=True):
    """Any status is an answer."""

    status: int
    retry_after: str = ""


class PostConnection(asyncio.Protocol):
    """An answer is given when its head has come. The rest of it is read and dropped, within bounds, for the connection
    to be used again."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[PostAnswer] | None = None
        self._when_free: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._began = self._heard = 0.0
        self._seen = self._words = 0
        self._is_in_head = False
        self._retry_after = ""

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, request: bytes, when_free: Callable[[], None]) -> PostAnswer:
        """`when_free` is called when the connection may be used again, which may be later, or never.

        `ConnectionError`: the other side ended it before it said anything; `OutgoingError`: it said nothing for long,
        or nothing that can be read.
        """
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the connection has ended")
        self._answer = answer = self._loop.create_future()
        self._when_free = when_free
        self._seen, self._words, self._is_in_head, self._retry_after = 0, 0, True, ""
        self._began = self._heard = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._heard + READ_SECONDS, self._look)
        self._transport.write(request)
        found: PostAnswer = await answer
        return found

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._when_free is None:  # nobody has asked
            return self.abort()
        self._heard = self._loop.time()
        for at in range(0, len(data), PIECE):
            try:
                self._parser.feed_data(data[at : at + PIECE])
            except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
                return self._fail(OutgoingError("protocol", f"no HTTP answer: {error}"))
            self._seen += min(PIECE, len(data) - at)
            if self._is_in_head and (self._seen > MOST_HEAD or self._words > MOST_WORDS):
                return self._fail(OutgoingError("too_large", "the head of the answer does not end"))
            if self._seen > MOST_HEAD + MOST_BODY:
                return self.abort()
            if self._when_free is None:  # it has been given back, and more has come than was asked for
                return self.abort() if at + PIECE < len(data) else None
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._seen:
            self._fail(OutgoingError("protocol", "the connection ended within the head of the answer"))
        else:
            self._fail(ConnectionResetError(str(exc) if exc else "the connection has ended"))

    # What the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in _WANTED and len(value) < 100:
            self._retry_after = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if self._words > MOST_WORDS:
            return
        if status >= 200 and self._answer is not None and not self._answer.done():
            self._is_in_head = False
            self._answer.set_result(PostAnswer(status, self._retry_after))

    def on_message_complete(self) -> None:
        if self._is_in_head:  # it said that there is more to come
            self._words += 1
            return
        when_free, self._when_free = self._when_free, None
        if when_free is None or not self._parser.should_keep_alive():
            self.abort()
        else:
            when_free()

    def _look(self) -> None:
        """Whether something was heard meanwhile, for as long as there is something to be heard."""
        self._timer = None
        if self._when_free is None:
            return
        until = min(self._heard + READ_SECONDS, self._began + TOTAL_SECONDS)
        if self._loop.time() < until:
            self._timer = self._loop.call_at(until, self._look)
        else:
            self._fail(OutgoingError("timeout", "no answer in time"))

    def _fail(self, error: Exception) -> None:
        self.abort()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
