"""Records that end by themselves, at the moment in their field `expires`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.identity.rest.facts import EndPlanned
from kith.identity.rest.record_draft import RecordDraft

PAST = "Choose a moment in the future."


def complain_end(draft: RecordDraft[Any]) -> None:
    """A new end must lie in the future: whoever means now takes away what is there."""
    if draft.sets("expires") and draft.values["expires"] is not None and draft.values["expires"] <= draft.work.now:
        draft.complain("expires", PAST)


def announce_end(draft: RecordDraft[Any]) -> None:
    if draft.sets("expires") and draft.values["expires"] is not None:
        draft.work.announce(EndPlanned(at=draft.values["expires"]))


def is_later(end: datetime | None, than: datetime | None) -> bool:
    """Whether this end is after the other one; None is never."""
    return than is not None and (end is None or end > than)
