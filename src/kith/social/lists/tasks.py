"""Whoever is not followed any more, nor asked to be, is on no list either."""

from __future__ import annotations

from kith.base.jobs import Kind
from kith.base.work import Work
from kith.social.lists import service
from kith.social.relationships.facts import FollowRejected, FollowWithdrawn, Unfollowed


async def part(work: Work, fact: Unfollowed) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


async def give_up(work: Work, fact: FollowWithdrawn) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


async def accept_no(work: Work, fact: FollowRejected) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


PART: Kind[Unfollowed] = Kind(name="lists.part", payload=Unfollowed, handler=part)
GIVE_UP: Kind[FollowWithdrawn] = Kind(name="lists.give_up", payload=FollowWithdrawn, handler=give_up)
ACCEPT_NO: Kind[FollowRejected] = Kind(name="lists.accept_no", payload=FollowRejected, handler=accept_no)
