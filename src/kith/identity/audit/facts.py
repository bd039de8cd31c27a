from __future__ import annotations

from kith.base.news import Fact


class EventRecorded(Fact, frozen=True):
    """An event was added to the audit trail; those that come of delivering a notification are not announced."""

    event_uuid: str
    action: str
