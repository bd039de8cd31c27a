"""Which backups are kept: of each of the last days, weeks and months the newest one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from kith.base.settings import BadSettings

__all__ = ["Keep", "read_keep", "superfluous", "time_of"]


class Keep(msgspec.Struct, frozen=True):
    last: int = 1
    hourly: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0
    yearly: int = 0


_PERIODS: dict[str, Callable[[datetime], object]] = {
    "last": lambda at: at,
    "hourly": lambda at: (at.date(), at.hour),
    "daily": lambda at: at.date(),
    "weekly": lambda at: at.isocalendar()[:2],
    "monthly": lambda at: (at.year, at.month),
    "yearly": lambda at: at.year,
}


def read_keep(text: str) -> Keep:
    """`7 daily, 4 weekly, 12 monthly`. The newest backup is always kept."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        matched = re.fullmatch(r"([0-9]{1,5}) (last|hourly|daily|weekly|monthly|yearly)", part)
        if matched is None:
            raise BadSettings(f"what is kept must be like `7 daily, 4 weekly, 12 monthly`, not {text!r}")
        found[matched[2]] = int(matched[1])
    found["last"] = max(1, found.get("last", 1))
    return Keep(**found)


def superfluous(ids: Sequence[str], keep: Keep) -> list[str]:
    """Of backups by their ids, those that no rule keeps, the oldest first."""
    newest_first = sorted(ids, reverse=True)
    kept: set[str] = set()
    for name, period_of in _PERIODS.items():
        most: int = getattr(keep, name)
        periods: set[object] = set()
        for id in newest_first:
            period = id if name == "last" else period_of(time_of(id))
            if period not in periods and len(periods) < most:
                periods.add(period)
                kept.add(id)
    return sorted(set(ids) - kept)


def time_of(id: str) -> datetime:
    return datetime.strptime(id.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
