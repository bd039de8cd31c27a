"""A socket to a directory that may say only so much for each question, and only for so long.

The library collects an answer until it ends, and some never do.
"""

from __future__ import annotations

import socket
import time
from typing import Any

__all__ = ["BoundedSocket"]

MOST_ANSWER = 32 << 20
AT_ONCE = 256 << 10  # the library would read much less, and copies everything that it has each time


class BoundedSocket:
    """`allow` before each question. Everything else is the socket's own."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._left = 0
        self._until = 0.0

    def allow(self, seconds: float) -> None:
        self._left = MOST_ANSWER
        self._until = time.monotonic() + seconds

    def recv(self, size: int) -> bytes:
        self._hurry()
        data = self._inner.recv(max(size, AT_ONCE))
        self._left -= len(data)
        if self._left < 0:
            raise OSError("the directory's answer does not end")
        return data

    def sendall(self, data: bytes) -> None:
        self._hurry()
        self._inner.sendall(data)

    def _hurry(self) -> None:
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise OSError("the directory did not answer in time")
        self._inner.settimeout(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
