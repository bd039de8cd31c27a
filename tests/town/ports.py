"""Ports on which servers of tests listen."""

from __future__ import annotations

import random
import socket
from types import TracebackType
from typing import Self

__all__ = ["ReservedPort"]

_RANDOM = random.SystemRandom()  # tests seed Python's own, and would come to the same ports again
# Below what the kernel gives to connections that name no port.
_LOWEST, _HIGHEST = 12_000, 32_000


class ReservedPort:
    """A TCP port nobody listens on and no other test will choose, before its server starts and after it was killed.

    Our servers share their port with whoever else asks to share it, so two that chose the same one would each get a
    part of the other's requests. The UDP port of the same number, which nobody uses, is held for as long as the
    reservation lasts: the kernel gives it to one process only, and takes it back when that dies.
    """

    def __init__(self) -> None:
        while True:
            self.number = _RANDOM.randint(_LOWEST, _HIGHEST)
            self._held = socket.socket(type=socket.SOCK_DGRAM)
            try:
                self._held.bind(("127.0.0.1", self.number))
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", self.number))
            except OSError:
                self._held.close()
            else:
                return

    def release(self) -> None:
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
