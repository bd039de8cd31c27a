"""Reads that turn out to be long: they end in the event loop, and are made beside it, as others like them for a while.

How far a read has to walk is decided by what others have written, and nobody foresees all of it.
"""

from __future__ import annotations

from math import inf
from time import monotonic, thread_time

__all__ = ["STEPS", "LongReads"]

SECONDS = 0.01  # of the processor, that one read may take in the event loop
STEPS = 10_000  # of SQLite's machine, after which it asks whether that is over: about half a millisecond
REMEMBERED = 60.0  # seconds for which others like it are made beside the loop at once
MOST = 1000  # statements that are remembered; some are built for what a caller filters by


class LongReads:
    """Remembers which statements were long of late, and knows when the read under way has taken too long."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._end = inf

    def is_known(self, sql: str) -> bool:
        until = self._until.get(sql)
        if until is None:
            return False
        if until < monotonic():
            del self._until[sql]
            return False
        return True

    def remember(self, sql: str) -> None:
        if len(self._until) >= MOST:
            self._until.clear()
        self._until[sql] = monotonic() + REMEMBERED

    def begin(self) -> None:
        self._end = thread_time() + SECONDS

    def end(self) -> None:
        self._end = inf

    def is_over(self) -> bool:
        """Asked by SQLite while it reads."""
        return thread_time() > self._end
