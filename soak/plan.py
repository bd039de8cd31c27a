"""Which faults come when: the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

__all__ = ["KINDS", "Fault", "plan"]

KINDS = ("kill", "database", "disk", "slow-disk", "network", "clock")
_WARM_UP_SECONDS = 15.0
_LEAST_PAUSE, _MOST_PAUSE = 18.0, 35.0
_KILLS_UNTIL = 0.6  # of the time; who lives from then on is weighed to the end
_LENGTHS = {
    "kill": (0.0, 3.0),
    "database": (1.0, 6.0),
    "disk": (8.0, 16.0),
    "slow-disk": (8.0, 20.0),
    "network": (5.0, 20.0),
    "clock": (8.0, 20.0),
}


class Fault(msgspec.Struct, frozen=True):
    """`number` is what else is left to chance: which process, which way, how much."""

    at: float
    kind: str
    seconds: float
    number: int


def plan(seed: int, seconds: float, kinds: Sequence[str]) -> list[Fault]:
    """Each kind once before any comes again; none so late that there is no time to get over it."""
    dice, found, at = random.Random(seed), list[Fault](), min(_WARM_UP_SECONDS, seconds / 4)
    waiting: list[str] = []
    while at < seconds * 0.9 and kinds:
        if not waiting:
            waiting = dice.sample(list(kinds), len(kinds))
        kind = waiting.pop()
        lasts = round(dice.uniform(*_LENGTHS[kind]), 2)
        fault = Fault(round(at, 2), kind, lasts, dice.randrange(1 << 30))
        if kind != "kill" or at < max(seconds * _KILLS_UNTIL, 60):
            found.append(fault)
            at += lasts
        elif len(set(kinds)) == 1:
            break
        at += dice.uniform(_LEAST_PAUSE, _MOST_PAUSE)
    return found
