"""What is remembered of a host after something was sent to it."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from kith.federation.delivery.tables import DeliveryHost

__all__ = ["BREAK_AT", "HostTally", "host_after"]

BREAK_AT = 10  # failures in a row
BREAK = timedelta(seconds=60)
DEAD_AFTER_DAYS = 7
SUCCESS_SHOWN = timedelta(hours=1)  # the time of the last success is written that often


class HostTally(msgspec.Struct):
    """What a host did while things were sent to it."""

    delivered: int = 0
    answered: int = 0  # delivered, or refused: it lives
    failures: int = 0  # since it last answered
    is_slow: bool = False
    scheme: str | None = None  # that it has accepted
    error: str = ""
    paused_until: datetime | None = None  # by its own wish
    is_unasked: bool = False  # we had no place left to ask it, which says nothing of it

    @property
    def is_empty(self) -> bool:
        return not self.answered and not self.failures


def host_after(host: DeliveryHost, tally: HostTally, now: datetime) -> DeliveryHost:
    """A success clears everything; a refusal shows that it lives, but not that it takes anything from us."""
    if tally.is_empty:
        return host
    host = msgspec.structs.replace(host, is_slow=tally.is_slow, scheme=tally.scheme or host.scheme)
    if tally.answered:
        host.failures, host.paused_until = 0, None
    if tally.delivered:
        host.failing_days, host.unavailable_since = 0, None
        if host.succeeded_at is None or now - host.succeeded_at > SUCCESS_SHOWN:
            host.succeeded_at = now
    if tally.failures:
        _fail(host, tally, now)
    if tally.paused_until is not None:
        host.paused_until = tally.paused_until
    return host


def _fail(host: DeliveryHost, tally: HostTally, now: datetime) -> None:
    host.failures += tally.failures
    if host.failures >= BREAK_AT:
        host.paused_until = now + BREAK
    if host.failing_days == 0 or host.failed_at is None or host.failed_at.date() != now.date():
        host.failing_days += 1
    if host.failing_days >= DEAD_AFTER_DAYS and host.unavailable_since is None:
        host.unavailable_since = now
    host.failed_at, host.error = now, tally.error
