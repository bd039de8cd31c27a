"""One event, in each framing it leaves in; each is made once, for however many listen."""

from __future__ import annotations

import msgspec

from kith.base.server.wire import chunk, text_frame

__all__ = ["HELLO", "THUMP", "StreamEvent"]

HELLO = b":)\n"
THUMP = b":thump\n\n"
NONE = "undefined"  # what SSE says in place of a payload

_encode = msgspec.json.Encoder().encode


class StreamEvent:
    __slots__ = ("_chunk", "_frames", "_rest", "name", "payload")

    def __init__(self, name: str, payload: str | None = None) -> None:
        self.name = name
        self.payload = payload
        self._chunk: bytes | None = None
        self._rest: bytes | None = None
        self._frames: dict[bytes, bytes] = {}

    def text(self) -> bytes:
        """As Server-Sent Events have it."""
        return f"event: {self.name}\ndata: {NONE if self.payload is None else self.payload}\n\n".encode()

    def chunk(self) -> bytes:
        if self._chunk is None:
            self._chunk = chunk(self.text())
        return self._chunk

    def frame(self, label: bytes) -> bytes:
        """As WebSockets have it, where every event says which stream it is of."""
        found = self._frames.get(label)
        if found is None:
            if self._rest is None:
                payload = b"" if self.payload is None else b',"payload":%b' % _encode(self.payload)
                self._rest = b',"event":%b%b}' % (_encode(self.name), payload)
            found = self._frames[label] = text_frame(b'{"stream":%b%b' % (label, self._rest))
        return found
