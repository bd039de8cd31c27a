"""Whoever is not followed any more, nor asked to be, is on no list either; whoever moves stays on it."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.lists import service
from kith.social.relationships.facts import FollowMoved, FollowRejected, FollowWithdrawn, Unfollowed


async def part(work: Work, fact: Unfollowed) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


async def give_up(work: Work, fact: FollowWithdrawn) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


async def accept_no(work: Work, fact: FollowRejected) -> None:
    await service.forget_member(work, fact.account_id, fact.target_id)


async def take_along(work: Work, fact: FollowMoved) -> None:
    await service.take_along(work, fact.account_id, fact.source_id, fact.target_id)


PART: JobKind[Unfollowed] = JobKind(name="lists.part", payload=Unfollowed, handler=part)
GIVE_UP: JobKind[FollowWithdrawn] = JobKind(name="lists.give_up", payload=FollowWithdrawn, handler=give_up)
ACCEPT_NO: JobKind[FollowRejected] = JobKind(name="lists.accept_no", payload=FollowRejected, handler=accept_no)
