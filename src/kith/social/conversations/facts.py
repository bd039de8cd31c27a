from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class ConversationChanged(Fact, frozen=True):
    """A post came into somebody's conversation."""

    conversation_id: int
    account_id: AccountId
