"""What happens to statuses, for whoever wants to know."""

from __future__ import annotations

from kith.base.news import Fact


class StatusPosted(Fact, frozen=True):
    """A status is there: own words or a boost."""

    status_id: int
    account_id: int
    reblog_of_id: int | None = None


class StatusEdited(Fact, frozen=True):
    status_id: int
    account_id: int
    new_mentions: tuple[int, ...] = ()


class StatusDeleted(Fact, frozen=True):
    status_id: int
    account_id: int
    reblog_of_id: int | None = None


class StatusFavourited(Fact, frozen=True):
    status_id: int
    account_id: int


class StatusUnfavourited(Fact, frozen=True):
    status_id: int
    account_id: int


class StatusQuoted(Fact, frozen=True):
    status_id: int
    quoted_id: int
    account_id: int


class StatusPinned(Fact, frozen=True):
    status_id: int
    account_id: int
    pinned: bool


class PollVoted(Fact, frozen=True):
    poll_id: int
    status_id: int
    account_id: int


class PollEnded(Fact, frozen=True):
    poll_id: int
    status_id: int
