"""What happens to tags, for whoever wants to know."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class TagUnfollowed(Fact, frozen=True):
    tag_id: int
    account_id: AccountId


class TagFeatured(Fact, frozen=True):
    """Shown on somebody's profile from now on, or no longer."""

    tag_id: int
    account_id: AccountId
    featured: bool
    name: str = ""  # as it is written there
