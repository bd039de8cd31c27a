"""Moments as clients of the social API read them."""

from __future__ import annotations

from datetime import date, datetime


def moment(at: datetime) -> str:
    """`2019-11-26T23:27:31.000Z`: UTC with three decimals, always."""
    return f"{at.isoformat(timespec='milliseconds')[:23]}Z"


def second(at: datetime) -> str:
    """`2019-11-26T23:27:31Z`: as figures and pages tell it."""
    return f"{at.isoformat(timespec='seconds')[:19]}Z"


def maybe(at: datetime | None) -> str | None:
    return None if at is None else moment(at)


def day_of(at: datetime | str | None) -> str | None:
    """The date alone, of a moment or of its text."""
    if at is None:
        return None
    return at[:10] if isinstance(at, str) else date.isoformat(at.date())
