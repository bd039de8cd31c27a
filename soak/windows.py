"""When something was broken on purpose: what is refused then is no fault of the server's."""

from __future__ import annotations

import time

import msgspec

__all__ = ["Window", "Windows"]


class Window(msgspec.Struct):
    fault: str
    began_at: float
    ended_at: float | None = None
    grace_seconds: float = 0.0


class Windows:
    def __init__(self) -> None:
        self._windows: list[Window] = []

    def open(self, fault: str, grace_seconds: float) -> Window:
        window = Window(fault, time.monotonic(), grace_seconds=grace_seconds)
        self._windows.append(window)
        return window

    def close(self, window: Window) -> None:
        window.ended_at = time.monotonic()

    def since(self, moment: float) -> str:
        """The faults that were there at any time since then, or had just ended."""
        names = [
            one.fault
            for one in reversed(self._windows)
            if one.ended_at is None or one.ended_at + one.grace_seconds >= moment
        ]
        return ", ".join(dict.fromkeys(names))

    @property
    def is_calm(self) -> bool:
        return not self.since(time.monotonic())
