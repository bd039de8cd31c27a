"""Moments that come from outside: told as text or as seconds, and never close to what can be held at all.

Python ends with the years 1 and 9999, and PostgreSQL's driver takes their last moments for eternity. What is taken is
some time away from both, so that whatever is counted from it is still a moment.
"""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["EARLIEST", "LATEST", "is_held", "moment_at", "read_http_date", "read_moment"]

EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def is_held(at: datetime) -> bool:
    """Whether there is room for it, and for what is counted from it."""
    return EARLIEST <= at < LATEST


def read_moment(text: str) -> datetime | None:
    """ISO 8601 in UTC; what names no zone is UTC already. None for what is no moment, or has no room."""
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if is_held(at) else None


def read_http_date(text: str) -> datetime | None:
    """The date of a header, such as `Retry-After` (RFC 9110)."""
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - loaded when first used

    try:
        at = parsedate_to_datetime(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return at if is_held(at) else None


def moment_at(seconds: float) -> datetime | None:
    """So many seconds after 1970; None where there is no such moment, or no room for it."""
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if is_held(at) else None
