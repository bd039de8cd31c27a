"""What happens to notifications, for whoever carries them on."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class NotificationMade(Fact, frozen=True):
    notification_id: int
    account_id: AccountId
    type: str


class MentionLetThrough(Fact, frozen=True):
    """A mention that the policy had held back, and that its reader has accepted now."""

    notification_id: int
    account_id: AccountId


class NotificationsMerged(Fact, frozen=True):
    """All that was held back of accepted senders is among somebody's notifications now."""

    account_id: AccountId
