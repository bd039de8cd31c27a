"""What happens between accounts, for whoever wants to know.

Rows that are gone are told of by their id and address, which is all that is left of them.
"""

from __future__ import annotations

import msgspec

from kith.base.news import Fact
from kith.social.ids import AccountId


class Followed(Fact, frozen=True):
    """`account_id` follows `target_id` from now on, asked for or authorized."""

    account_id: AccountId
    target_id: AccountId
    follow_id: int


class FollowChanged(Fact, frozen=True):
    """What is wanted of somebody who is followed already: boosts, notices, languages."""

    account_id: AccountId
    target_id: AccountId
    follow_id: int


class FollowMoved(Fact, frozen=True):
    """`account_id` followed `source_id`, who has moved, and follows `target_id` instead, or asks to."""

    account_id: AccountId
    source_id: AccountId
    target_id: AccountId


class FollowRequested(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId
    request_id: int
    uri: str | None = None


class FollowAuthorized(Fact, frozen=True):
    """`target_id` let `account_id` follow them; `Followed` is told with it."""

    account_id: AccountId
    target_id: AccountId
    request_id: int
    uri: str | None = None


class FollowRejected(Fact, frozen=True):
    """`target_id` does not want to be followed by `account_id`, who asked."""

    account_id: AccountId
    target_id: AccountId
    request_id: int
    uri: str | None = None


class FollowWithdrawn(Fact, frozen=True):
    """`account_id` no longer asks."""

    account_id: AccountId
    target_id: AccountId
    request_id: int
    uri: str | None = None


class Unfollowed(Fact, frozen=True):
    """`account_id` no longer follows `target_id`; `by_target` if it was not their own wish."""

    account_id: AccountId
    target_id: AccountId
    follow_id: int
    uri: str | None = None
    by_target: bool = False


class Blocked(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId
    block_id: int
    uri: str | None = None


class Unblocked(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId
    block_id: int
    uri: str | None = None


class Muted(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId
    hide_notifications: bool


class Unmuted(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId


class DomainBlocked(Fact, frozen=True):
    """With how many follows ended by it, in either direction."""

    account_id: AccountId
    domain: str
    following: int = 0
    followers: int = 0


class LostFollow(msgspec.Struct, frozen=True):
    """A follow between somebody here and somebody elsewhere that ends: `following` if it was theirs to begin with."""

    account_id: AccountId
    following: bool
    acct: str
    reblogs: bool = True
    notify: bool = False
    languages: list[str] | None = None


class FollowsLost(Fact, frozen=True):
    """By blocking a domain; told beside `DomainBlocked`."""

    account_id: AccountId
    domain: str
    lost: tuple[LostFollow, ...]


class DomainUnblocked(Fact, frozen=True):
    account_id: AccountId
    domain: str


class Endorsed(Fact, frozen=True):
    account_id: AccountId
    target_id: AccountId
    endorsed: bool
