"""When a signature counts. Other servers' clocks are wrong by up to an hour, and ours may be, too."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from kith.federation.signatures.refusals import Fault, SignatureRefused, shown

__all__ = ["check_window", "http_date", "read_http_date", "read_seconds"]

SKEW = 3600
USUAL = 300
LONGEST = 12 * 3600
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{1,2}) "
    r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) (?:GMT|UTC)"
)
_SECONDS = re.compile(r"([0-9]{1,15})(?:\.[0-9]{1,15})?")


def http_date(at: datetime) -> str:
    """As in `Tue, 05 Mar 2024 10:00:00 GMT`, whatever language the machine speaks."""
    at = at.astimezone(UTC)
    return f"{_DAYS[at.weekday()]}, {at.day:02} {_MONTHS[at.month - 1]} {at.year:04} {at:%H:%M:%S} GMT"


@lru_cache(64)
def read_http_date(value: bytes) -> int:
    """In seconds since 1970. Whatever comes in one second says the same."""
    found = _DATE.fullmatch(value.decode("latin-1"))
    try:
        if found is None:
            raise ValueError("not a date of HTTP")
        day, month, year, *clock = found.groups()
        hour, minute, second = map(int, clock)
        # 60 is a second that was put in.
        at = datetime(int(year), _MONTHS.index(month) + 1, int(day), hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError as error:
        raise SignatureRefused(Fault.MALFORMED, f"Invalid Date header: {shown(value)}") from error
    return int(at.timestamp())


def read_seconds(text: str, name: str) -> int:
    found = _SECONDS.fullmatch(text)
    if found is None:
        raise SignatureRefused(Fault.MALFORMED, f"Invalid {name} of the signature: {shown(text)}")
    return int(found[1])


def check_window(created: int, expires: int | None, now: datetime) -> None:
    """Made at most an hour from now, and expired for at most an hour.

    A signature expires when it says so, but after twelve hours at the latest; one that does not say, after five
    minutes.
    """
    moment = now.timestamp()
    end = min(created + USUAL if expires is None else expires, created + LONGEST)
    if created > moment + SKEW or moment > end + SKEW:
        raise SignatureRefused(Fault.WINDOW, "Signed request date outside acceptable time window")
