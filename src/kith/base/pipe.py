"""A way to write to an open stream or socket without waiting for it: for one who writes the same bytes to many.

Our own server offers one with every request and socket (`scope["extensions"]["kith.pipe"]`).
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["Pipe"]


class Pipe(Protocol):
    @property
    def is_chunked(self) -> bool:
        """Whether the pieces of an answer are chunks (HTTP/1.1) or come as they are."""
        ...

    @property
    def unread(self) -> int:
        """How many bytes wait because the client does not read."""
        ...

    def stay(self) -> None:
        """From now on it is a stream: it ends when the server stops, and when nothing of it arrives any more."""
        ...

    def push(self, data: bytes) -> None:
        """Bytes as they go over the wire: chunks of a stream (`wire.chunk`), frames of a socket (`wire.text_frame`)."""
        ...

    def stop(self, code: int, reason: str = "") -> None:
        """End it: a socket with this code, a stream by ending the answer."""
        ...
