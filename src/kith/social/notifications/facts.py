"""What happens to notifications, for whoever carries them on."""

from __future__ import annotations

from kith.base.news import Fact


class NotificationMade(Fact, frozen=True):
    notification_id: int
    account_id: int
    type: str
