"""What comparing lists of followers has found."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class GhostFollowFound(Fact, frozen=True):
    """Another server believes that one of ours follows somebody there, who is not followed."""

    account_id: AccountId
    target_id: AccountId
