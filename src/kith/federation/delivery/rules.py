"""What an answer means for a delivery, and when the next attempt is made."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from enum import StrEnum

from kith.base.clocks import SLACK
from kith.base.moments import read_http_date
from kith.federation.delivery.tables import DeliveryHost

__all__ = [
    "LONGEST_PAUSE",
    "DeliveryResult",
    "judged",
    "needs_second_knock",
    "pause_before",
    "pause_of",
    "read_retry_after",
]

LEAST_PAUSE = 15.0
LONGEST_PAUSE = timedelta(days=2)  # longer than before the last retry
LONGEST_RETRY_AFTER = timedelta(hours=1)
_REFUSALS_TO_RETRY = frozenset({401, 408, 429})
_PAUSES = frozenset({429, 503})


class DeliveryResult(StrEnum):
    """What became of one attempt. All but `FAILED` are the end of the delivery."""

    DELIVERED = "delivered"
    REFUSED = "refused"  # the host does not want it, now or ever
    FAILED = "failed"  # it is tried again
    GAVE_UP = "gave_up"  # it failed too often, or for too long
    DROPPED = "dropped"  # we do not want it sent any more


def judged(status: int) -> DeliveryResult:
    if 200 <= status < 300:
        return DeliveryResult.DELIVERED
    if status == 501 or (400 <= status < 500 and status not in _REFUSALS_TO_RETRY):
        return DeliveryResult.REFUSED
    return DeliveryResult.FAILED


def needs_second_knock(status: int, *, is_known: bool) -> bool:
    """Whether the signature may be what the host did not like. One that has liked it before means something else
    by 400."""
    return status == 401 or (status == 400 and not is_known)


def pause_before(retry: int) -> timedelta:
    """Before retry 0, 1, 2...: a quarter of a minute, and ever longer, up to most of a day for the last."""
    grown = float(retry**4)
    return timedelta(seconds=LEAST_PAUSE + grown + random.uniform(0, grown / 2))  # noqa: S311 - spread, not secrecy


def pause_of(host: DeliveryHost, now: datetime) -> datetime | None:
    """Until when a host is left alone, if it is. Nobody pauses for longer whose clock was right."""
    until = host.paused_until
    return until if until is not None and now < until <= now + LONGEST_RETRY_AFTER + SLACK else None


def read_retry_after(status: int, text: str, now: datetime) -> datetime | None:
    """Until when a host asks to be left alone: so many seconds, or a date. No longer than an hour is believed."""
    if status not in _PAUSES or not text:
        return None
    if text.isascii() and text.isdigit():
        asked: datetime | None = now + timedelta(seconds=min(int(text[:9]), LONGEST_RETRY_AFTER.total_seconds()))
    else:
        asked = read_http_date(text)
    return min(asked, now + LONGEST_RETRY_AFTER) if asked is not None and asked > now else None
