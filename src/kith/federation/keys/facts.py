"""What happens to keys, for whoever tells other servers."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class ActorKeyRotated(Fact, frozen=True):
    """An actor signs with another key from now on; without an account, the server itself does."""

    account_id: AccountId | None
