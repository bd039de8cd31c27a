"""How long a client that owes something is waited for."""

from __future__ import annotations

from kith.base.server.limits import ConnectionLimits

__all__ = ["Patience"]


class Patience:
    """What moves buys time, up to a limit; where no rate is asked for, anything that moves buys all of it."""

    __slots__ = ("_credit", "_limits", "_looked_at", "_moved", "since")

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._credit = 0.0  # seconds the client may still take
        self._looked_at = 0.0
        self._moved = 0
        self.since = 0.0

    def begin(self, now: float) -> None:
        self.since = self._looked_at = now
        self._credit, self._moved = self._limits.grace_seconds, 0

    def skip(self, start: float, end: float) -> None:
        """From `start` to `end` it was not the client that was waited for."""
        self.since += end - start
        self._looked_at = end

    def is_over(self, now: float, moved: int) -> bool:
        """Whether less has come, or was taken, than even a slow line brings; `moved` is bytes since the beginning."""
        limits = self._limits
        passed, gained = now - self._looked_at, moved - self._moved
        self._looked_at, self._moved = now, moved
        if limits.least_rate:
            self._credit = min(self._credit + gained / limits.least_rate, limits.silence_seconds) - passed
        else:
            self._credit = limits.silence_seconds if gained else self._credit - passed
        return self._credit < 0
