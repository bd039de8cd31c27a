"""How much something is a trend: more people than the day before, and less of it with every hour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

__all__ = [
    "COOLDOWN",
    "LEAST_PEOPLE",
    "LEAST_STATUS_SCORE",
    "LEAST_USAGE_SCORE",
    "LINK_HALF_LIFE",
    "TAG_HALF_LIFE",
    "Peak",
    "day_of_use",
    "scored",
    "status_score",
    "usage_score",
]

LEAST_PEOPLE = 5  # by whom it is used, or how often a post was boosted and favourited
LEAST_USAGE_SCORE = 1.0  # of tags and links
LEAST_STATUS_SCORE = 0.3
COOLDOWN = timedelta(days=2)  # for so long the greatest score counts
TAG_HALF_LIFE, LINK_HALF_LIFE, STATUS_HALF_LIFE = timedelta(hours=4), timedelta(hours=8), timedelta(hours=1)


class Peak(NamedTuple):
    """The greatest score that something had, and when."""

    score: float = 0.0
    at: datetime | None = None


def day_of_use(at: datetime, ago: int = 0) -> str:
    return (at - timedelta(days=ago)).date().isoformat()


def usage_score(observed: int, before: int) -> float:
    """Of a day on which so many people used it, after a day with so many."""
    expected = max(before, 1)
    if observed < LEAST_PEOPLE or expected > observed:
        return 0.0
    return (observed - expected) ** 2 / expected


def scored(peak: Peak, people: Mapping[str, int], now: datetime, half_life: timedelta) -> tuple[float, Peak]:
    """The score now, and the peak it falls from. `people`: how many used it, by day.

    A peak is no higher than the figures of its day allow now: people who have gone since no longer count.
    """

    def of_day(at: datetime) -> float:
        return usage_score(people.get(day_of_use(at), 0), people.get(day_of_use(at, 1), 0))

    is_past = peak.at is None or peak.at < now - COOLDOWN
    peak = Peak() if is_past or peak.at is None else Peak(min(peak.score, of_day(peak.at)), peak.at)
    current = of_day(now)
    if current > peak.score:
        peak = Peak(current, now)
    if peak.at is None or not peak.score:
        return 0.0, Peak()
    return peak.score * _left(now - peak.at, half_life), peak


def status_score(marks: int, age: timedelta) -> float:
    """Of a post with so many boosts and favourites."""
    if marks < LEAST_PEOPLE:
        return 0.0
    return (marks - 1) ** 2 * _left(age, STATUS_HALF_LIFE)


def _left(age: timedelta, half_life: timedelta) -> float:
    return float(0.5 ** max(age / half_life, 0.0))
