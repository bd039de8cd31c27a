"""How long ago something was, by clocks that are not always right.

A clock that was ahead for a moment, by an hour or by years, leaves moments behind that have not come yet once it is set
right. Whoever only asks whether less than a while has passed since takes them for new until they come: what somebody
proved then would count for years, and what was tried then would not be tried again for as long.
"""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["SLACK", "is_ahead", "is_recent"]

SLACK = timedelta(minutes=10)  # by which the clocks of several machines may differ


def is_ahead(moment: datetime, now: datetime) -> bool:
    """Whether `moment` was written down by a clock that was wrong, then or now."""
    return moment - now > SLACK


def is_recent(moment: datetime, now: datetime, within: timedelta) -> bool:
    """Whether `moment` was less than `within` ago. One that is ahead was not."""
    return now - moment < within and not is_ahead(moment, now)
