"""What happens to statuses, for whoever wants to know."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId, StatusId


class StatusPosted(Fact, frozen=True):
    """A status is there: own words or a boost."""

    status_id: StatusId
    account_id: AccountId
    reblog_of_id: StatusId | None = None
    is_direct: bool = False  # only for those it mentions


class StatusEdited(Fact, frozen=True):
    status_id: StatusId
    account_id: AccountId
    new_mentions: tuple[AccountId, ...] = ()


class StatusDeleted(Fact, frozen=True):
    status_id: StatusId
    account_id: AccountId
    reblog_of_id: StatusId | None = None


class BoostWithdrawn(Fact, frozen=True):
    """A boost is gone because what it boosted is."""

    status_id: StatusId
    account_id: AccountId


class StatusFavourited(Fact, frozen=True):
    status_id: StatusId
    account_id: AccountId
    favourite_id: int = 0
    is_elsewhere: bool = False  # the post is one of another server


class StatusUnfavourited(Fact, frozen=True):
    status_id: StatusId
    account_id: AccountId
    favourite_id: int = 0
    may_be_elsewhere: bool = True  # the post is one of another server, or nobody has looked


class StatusQuoted(Fact, frozen=True):
    status_id: StatusId
    quoted_id: StatusId
    account_id: AccountId


class QuoteRevoked(Fact, frozen=True):
    """`account_id`, who wrote `quoted_id`, does not want to be quoted by `status_id` any more."""

    status_id: StatusId
    quoted_id: StatusId
    account_id: AccountId


class StatusPinned(Fact, frozen=True):
    status_id: StatusId
    account_id: AccountId
    pinned: bool


class PollVoted(Fact, frozen=True):
    """`vote_ids` are the votes that were given with it, one for each choice."""

    poll_id: int
    status_id: StatusId
    account_id: AccountId
    asker_id: AccountId = AccountId(0)  # unknown in what an earlier version has left to be done
    hides_counts: bool = False  # as long as the poll goes on
    vote_ids: tuple[int, ...] = ()


class PollEnded(Fact, frozen=True):
    poll_id: int
    status_id: StatusId


class TagsRecounted(Fact, frozen=True):
    """Who used the tags of a post on its day was counted anew, after the post was edited or deleted."""

    status_id: StatusId
