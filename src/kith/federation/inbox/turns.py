"""Whose turn it is in the inbox: who has lately taken much of our time comes after everybody else.

What somebody's activities cost is only known when they have been done: one that changes hundreds of rows is as small as
another that changes one. So each site has a clock, which goes on by a multiple of the time it took; whose clock is
behind is served first. A site that is idle, or takes its share, is as far as everybody, and none is ever more than a
minute ahead: with nobody else there it does not wait at all.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping

import msgspec

from kith.base.caches import ForAWhile

__all__ = ["InboxTurns", "milliseconds"]

WEIGHT = 8  # whoever takes less than an eighth of the time has none to wait for
MOST_AHEAD = 60_000
USUAL = 5.0  # milliseconds that an activity takes, of a site of which nothing is known
REMEMBERED_SECONDS = 3600.0
MOST_SITES = 10_000


class _Account(msgspec.Struct, frozen=True):
    """How far a site is, and what one of its activities has cost lately, in milliseconds."""

    clock: float = 0.0
    cost: float = USUAL


class InboxTurns:
    """Of this process: each one that takes from the inbox keeps its own."""

    def __init__(self) -> None:
        self._sites: ForAWhile[_Account] = ForAWhile("inbox_turns", seconds=REMEMBERED_SECONDS, most=MOST_SITES)
        self.start = ""  # from which site on those that wait are looked at, where there are very many

    def spent(self, site: str, seconds: float) -> None:
        """It took that long to do one activity of a site."""
        before, cost, now = self._sites.get(site) or _Account(), seconds * 1000, milliseconds()
        clock = min(max(before.clock, now) + WEIGHT * cost, now + MOST_AHEAD)
        self._sites.put(site, _Account(clock, 0.8 * before.cost + 0.2 * cost))

    def order(self, waiting: Mapping[str, int], most: int) -> list[str]:
        """Whose activities are to be done, one after the other; `waiting` is since when the first of each site does."""
        now, chosen = milliseconds(), list[str]()
        accounts = {site: self._sites.get(site) or _Account() for site in waiting}
        # Nobody is further ahead than that, although the clock of a server was set back.
        line = [
            (max(min(since, now), min(accounts[site].clock, now + MOST_AHEAD)), site) for site, since in waiting.items()
        ]
        heapq.heapify(line)
        while line and len(chosen) < most:
            clock, site = line[0]
            chosen.append(site)
            heapq.heapreplace(line, (max(clock, now) + WEIGHT * accounts[site].cost, site))
        return chosen


def milliseconds() -> int:
    return time.time_ns() // 1_000_000
