"""Whose bytes are read next when many have sent much.

What comes from outside is parsed on the event loop, where everybody waits for it. So only so much is parsed each time
the loop goes round. What is over is put aside, and whoever sent it takes turns with others: addresses with addresses,
hosts with hosts. Whoever sends megabytes that are costly to read waits behind themselves.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

__all__ = ["ReadingTurns"]

IN_A_ROUND = 64 * 1024  # bytes of the most costly kind, some ten milliseconds; cheaper ones weigh less

Read = Callable[[], int]


class ReadingTurns:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._weight = 0  # of what was read in this round
        self._goes_round = False
        self._waiting: dict[str, deque[Read]] = {}

    def may_read(self, weight: int) -> bool:
        """Whether so much more may be read at once; then it counts."""
        if self._waiting or (self._weight and self._weight + weight > IN_A_ROUND):
            return False
        self._weight += weight
        self._come_again()
        return True

    def wait(self, who: str, read: Read) -> None:
        """Have `read` called in its turn. It reads a piece, returns what that weighed, and waits again for the rest."""
        self._waiting.setdefault(who, deque()).append(read)
        self._come_again()

    def _come_again(self) -> None:
        if not self._goes_round:
            self._goes_round = True
            self._loop.call_soon(self._go_round)

    def _go_round(self) -> None:
        self._weight, self._goes_round = 0, False
        if self._waiting:
            self._come_again()
        while self._waiting and self._weight < IN_A_ROUND:
            who = next(iter(self._waiting))
            line = self._waiting.pop(who)
            read = line.popleft()
            if line:
                self._waiting[who] = line
            self._weight += read()
