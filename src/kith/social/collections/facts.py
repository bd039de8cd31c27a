"""What happens to collections, for those who are in them."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class AddedToCollection(Fact, frozen=True):
    collection_id: int
    account_id: AccountId


class CollectionChanged(Fact, frozen=True):
    collection_id: int
