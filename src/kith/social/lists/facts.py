"""What happens to lists, for whoever fills their feeds."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class ListChanged(Fact, frozen=True):
    """Other replies are wanted on it, or its members belong into the home, or no longer."""

    list_id: int
    account_id: AccountId
    replies: bool
    exclusive: bool


class ListDeleted(Fact, frozen=True):
    """`member_ids` are those whom it had kept out of the home."""

    list_id: int
    account_id: AccountId
    member_ids: tuple[AccountId, ...] = ()


class ListJoined(Fact, frozen=True):
    list_id: int
    account_id: AccountId
    member_id: AccountId


class ListLeft(Fact, frozen=True):
    list_id: int
    account_id: AccountId
    member_id: AccountId
