from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class EncryptedMessageCame(Fact, frozen=True):
    """For one device, which is known by the hash of its access token."""

    message_id: int
    account_id: AccountId
    key_hash: str
