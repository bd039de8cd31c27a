"""When a backup is due: `daily at 03:00`, `weekly on sunday at 03:00`, `hourly`, `every 6h`. Times are UTC."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

import msgspec

from kith.base.settings import BadSettings, Settings

__all__ = ["RETRY", "Schedule", "is_due", "is_overdue", "read_schedule"]

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
RETRY = timedelta(minutes=30)  # after one that failed
SHORTEST = timedelta(minutes=10)
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_EVERY = re.compile(r"every ([0-9]{1,4}) ?([mhd])")
_AT = re.compile(r"(?:daily|weekly on ([a-z]+)) at ([0-9]{2}):([0-9]{2})")


class Schedule(msgspec.Struct, frozen=True):
    """Every so often; or at a time, on each day or on one of the week."""

    every: timedelta | None = None
    at: time | None = None
    weekday: int | None = None

    def last_due(self, now: datetime) -> datetime:
        """The newest moment, not after `now`, since when there should be a backup."""
        if self.every is not None:
            return now - self.every
        at = self.at or time()
        due = now.replace(hour=at.hour, minute=at.minute, second=0, microsecond=0)
        if self.weekday is not None:
            due -= timedelta(days=(due.weekday() - self.weekday) % 7)
        if due > now:
            due -= timedelta(days=1 if self.weekday is None else 7)
        return due

    @property
    def period(self) -> timedelta:
        if self.every is not None:
            return self.every
        return timedelta(days=1 if self.weekday is None else 7)


def read_schedule(text: str) -> Schedule | None:
    """None where no backups are made."""
    words = " ".join(text.lower().split())
    if words in ("", "off"):
        return None
    if words == "hourly":
        return Schedule(every=timedelta(hours=1))
    if words in ("daily", "weekly"):
        words = "daily at 03:00" if words == "daily" else "weekly on sunday at 03:00"
    if found := _EVERY.fullmatch(words):
        every = int(found[1]) * _UNITS[found[2]]
        if every >= SHORTEST:
            return Schedule(every=every)
    found = _AT.fullmatch(words)
    if found and int(found[2]) < 24 and int(found[3]) < 60 and (found[1] is None or found[1] in DAYS):
        weekday = None if found[1] is None else DAYS.index(found[1])
        return Schedule(at=time(int(found[2]), int(found[3])), weekday=weekday)
    raise BadSettings(
        "the schedule of backups must be like `daily at 03:00`, `weekly on sunday at 03:00`, `every 6h` "
        f"(at least 10m) or `off`, not {text!r}"
    )


def is_due(schedule: Schedule, now: datetime, *, succeeded_at: datetime | None, tried_at: datetime | None) -> bool:
    """`succeeded_at` and `tried_at` are when the last good run and the last run of all began."""
    if succeeded_at is not None and succeeded_at >= schedule.last_due(now):
        return False
    return tried_at is None or tried_at == succeeded_at or now - tried_at >= RETRY


def is_overdue(settings: Settings, succeeded_at: datetime | None, now: datetime) -> bool:
    """Whether a scheduled backup is missing for more than half a period (an hour at least)."""
    try:
        schedule = read_schedule(settings.backup_schedule)
    except BadSettings:
        return True
    if schedule is None or not settings.backup:
        return False
    patience = max(schedule.period / 2, timedelta(hours=1))
    return succeeded_at is None or succeeded_at < schedule.last_due(now) - patience
