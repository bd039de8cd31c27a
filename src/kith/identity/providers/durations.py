"""Checks for durations: positive, not negative, or in the past."""

from __future__ import annotations

from typing import Any

from kith.identity.rest import RecordDraft
from kith.identity.rest.fields import read_offset


def check_durations(
    draft: RecordDraft[Any],
    *,
    positive: tuple[str, ...] = (),
    not_negative: tuple[str, ...] = (),
    past: tuple[str, ...] = (),
) -> None:
    for name in (*positive, *not_negative, *past):
        seconds = read_offset(draft.values[name]) if name in draft.values else None
        if seconds is None:
            continue
        if name in positive and seconds <= 0:
            draft.complain(name, "Ensure this time is greater than 0.")
        elif name in not_negative and seconds < 0:
            draft.complain(name, "Ensure this time is greater than or equal to 0.")
        elif name in past and seconds > 0:
            draft.complain(name, "Ensure this time is less than or equal to 0.")
