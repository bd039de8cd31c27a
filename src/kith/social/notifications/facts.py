"""What happens to notifications, for whoever carries them on."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class NotificationMade(Fact, frozen=True):
    notification_id: int
    account_id: AccountId
    type: str
