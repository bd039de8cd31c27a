"""Letting others have a turn of the event loop in the middle of long work."""

from __future__ import annotations

import asyncio
import time

__all__ = ["Breath"]

SECONDS = 0.02


class Breath:
    """Others have a turn once this has gone on for a while, and not before.

    Whoever writes keeps everybody else from writing until the loop comes round to them again, which takes long on a
    busy server: what is done in a moment must not wait for that.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._since = time.monotonic()

    async def take(self) -> None:
        if time.monotonic() - self._since >= self._seconds:
            await asyncio.sleep(0)
            self._since = time.monotonic()
