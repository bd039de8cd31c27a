"""Whose turn it is in a lane: nobody who has many jobs, or slow ones, goes before all of somebody else's.

The order is that of `kith.base.places`: first whoever has the fewest running, then whoever was served longest ago, then
whoever is due first. An owner has no more than `each` at once, but for the server itself, whose name is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from itertools import count

__all__ = ["LaneTurns"]


class LaneTurns:
    """Whose turn it is in one lane of one process."""

    def __init__(self, each: int) -> None:
        self._each = each
        self._served: dict[str, int] = {}  # of those who waited last time: when they last got a place
        self._numbers = count(1)

    def share(self, free: int, waiting: Mapping[str, datetime], running: Mapping[str, int]) -> dict[str, int]:
        """How many of the `free` places each of those who wait is given; `running` is what they have already."""
        self._served = {owner: number for owner, number in self._served.items() if owner in waiting}
        had, given = Counter(running), Counter[str]()
        for _ in range(free):
            able = [one for one in waiting if not one or had[one] < self._each]
            if not able:
                break
            first = min(able, key=lambda one: (had[one], self._served.get(one, 0), waiting[one], one))
            had[first] += 1
            given[first] += 1
            self._served[first] = next(self._numbers)
        return dict(given)
