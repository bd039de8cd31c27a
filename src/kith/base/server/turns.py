"""Which request is begun next when many have come at once.

A few are begun each time the loop goes round, and fewer of one address. The rest wait: people who have signed in come
first, then whoever brings credentials, then strangers; among equals the addresses take turns. So whoever sends a
thousand requests at once mostly waits behind themselves, and whoever comes meanwhile waits for a few of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable

__all__ = ["CREDENTIALS", "KNOWN", "STRANGER", "Turns"]

KNOWN, CREDENTIALS, STRANGER = range(3)
AT_ONCE = 32
FOR_STRANGERS = 8  # of those, whoever else waits
OF_ONE_ADDRESS = 4

Begin = Callable[[], None]


class Turns:
    """`at_once` are begun in a round, `for_strangers` of them whoever else waits, and `each` of one address."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        at_once: int = AT_ONCE,
        for_strangers: int = FOR_STRANGERS,
        each: int = OF_ONE_ADDRESS,
    ) -> None:
        self._loop = loop
        self._at_once, self._for_strangers, self._each = at_once, for_strangers, each
        self._begun = 0
        self._of: Counter[str] = Counter()  # of those that were begun, by address
        self._waiting: tuple[dict[str, deque[Begin]], ...] = ({}, {}, {})

    def is_free(self, address: str) -> bool:
        """Whether one more may be begun at once; then it counts as begun."""
        if self._begun >= self._at_once or self._of[address] >= self._each:
            return False
        if not self._begun:
            self._loop.call_soon(self._go_round)
        self._begun += 1
        self._of[address] += 1
        return True

    def wait(self, rank: int, address: str, begin: Begin) -> None:
        self._waiting[rank].setdefault(address, deque()).append(begin)

    def _go_round(self) -> None:
        self._begun = 0
        self._of.clear()
        known, credentials, strangers = self._waiting
        if not (known or credentials or strangers):
            return
        self._loop.call_soon(self._go_round)
        self._begin_next(known, self._at_once - self._for_strangers)
        self._begin_next(credentials, self._at_once - self._for_strangers)
        self._begin_next(strangers, self._at_once)
        self._begun = max(self._begun, 1)  # whoever comes now does not ask for another round

    def _begin_next(self, waiting: dict[str, deque[Begin]], most: int) -> None:
        able = deque(address for address in waiting if self._of[address] < self._each)
        while able and self._begun < most:
            address = able.popleft()
            line = waiting.pop(address)
            self._begun += 1
            self._of[address] += 1
            line.popleft()()
            if line:
                waiting[address] = line
                if self._of[address] < self._each:
                    able.append(address)
