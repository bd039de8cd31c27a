"""Whoever got past a guard, and how handlers find them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from kith.base.caches import ForAWhile
from kith.base.errors import Unprocessable
from kith.base.exchange import Exchange
from kith.base.news import Fact
from kith.base.routing import Provided
from kith.social.ids import UserId

__all__ = [
    "NEEDS_USER",
    "NOBODY",
    "Caller",
    "Member",
    "MemberSeen",
    "Presence",
    "TheCaller",
    "TheMember",
    "caller_in",
    "member_in",
]

NEEDS_USER = "This method requires an authenticated user"


class Member(msgspec.Struct, frozen=True):
    """The person a token speaks for."""

    id: UserId
    username: str
    role: str


class MemberSeen(Fact, frozen=True):
    """Somebody was here on a day. It may be told more than once."""

    user_id: UserId
    day: str


class Presence:
    """Who has been noted today, so that it is done once."""

    def __init__(self) -> None:
        self._noted: ForAWhile[int] = ForAWhile("presence", seconds=86_400, most=100_000)

    def is_new(self, user_id: UserId, day: int) -> bool:
        """`day` is its ordinal."""
        if self._noted.get(user_id) == day:
            return False
        self._noted.put(user_id, day)
        return True


class Caller(msgspec.Struct, frozen=True):
    """Whoever got past a guard. `member` is None for an app by itself and for anybody without a token."""

    member: Member | None = None
    app_id: int | None = None
    provider_id: int | None = None
    scopes: frozenset[str] = frozenset()
    grant_uuid: str | None = None
    key_hash: str | None = None
    is_browser: bool = False  # signed in on our own pages, without a token


NOBODY = Caller()


def caller_in(exchange: Exchange) -> Caller:
    """Whoever the guard let in."""
    found: Caller = exchange.caller
    return found


def member_in(exchange: Exchange) -> Member:
    """Only behind `user(...)`."""
    member = caller_in(exchange).member
    if member is None:
        raise Unprocessable(NEEDS_USER)
    return member


TheCaller = Annotated[Caller, Provided(caller_in)]
TheMember = Annotated[Member, Provided(member_in)]
