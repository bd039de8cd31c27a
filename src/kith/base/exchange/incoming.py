"""What a client sends, held to its limits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any

from kith.base.errors import Malformed, TooLarge

__all__ = ["Incoming", "Message", "Receive", "Scope", "Send"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DRAIN_BYTES = 4 << 20
DRAIN_SECONDS = 2.0


class Incoming:
    """The body of a request. That it comes in time is the server's matter."""

    __slots__ = ("_body", "_is_whole", "_length", "_most", "_receive", "_seen")

    def __init__(self, receive: Receive, length: bytes, most: int) -> None:
        self._receive = receive
        self._length = length  # as its header says
        self._most = most
        self._body: bytes | None = None
        self._seen = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next piece of the body."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            if self._seen > self._most:
                raise TooLarge
            self._is_whole = not message.get("more_body", False)
        return message

    async def chunks(self, most: int) -> AsyncGenerator[bytes, None]:
        """The body piece by piece, `most` bytes in all."""
        self._check_length(most)
        if self._body is not None:
            if self._body:
                yield self._body
            return
        size = 0
        while not self._is_whole:
            chunk = await self._next()
            size += len(chunk)
            if size > most:
                raise TooLarge
            if chunk:
                yield chunk

    async def body(self, most: int) -> bytes:
        """The whole body; who asks a second time gets the same."""
        self._check_length(most)
        if self._body is None:
            chunks, size = [], 0
            while not self._is_whole:
                chunks.append(await self._next())
                size += len(chunks[-1])
                if size > most:
                    raise TooLarge
            self._body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        return self._body

    def _check_length(self, most: int) -> None:
        if self._length and not self._length.isdigit():
            raise Malformed("The Content-Length header is not a number")
        if (self._length and int(self._length) > most) or (self._body is not None and len(self._body) > most):
            raise TooLarge

    async def _next(self) -> bytes:
        message = await self.receive()
        if message["type"] != "http.request":
            raise Malformed("The body ended too early")
        chunk: bytes = message.get("body", b"")
        return chunk

    async def drain(self) -> None:
        """Take in a little of what the client is still sending, so that it lives to read the answer."""
        if self._is_whole:
            return
        self._is_whole, seen = True, 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while seen < DRAIN_BYTES:
                    message = await self._receive()
                    seen += len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body"):
                        return
