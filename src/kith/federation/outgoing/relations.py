"""Follows, blocks, and what is said to those who ask.

Of what somebody elsewhere has done their own server knows already. Only where the team here has suspended them does
what ends between them and people here end without their doing, in either direction, and is told.
"""

from __future__ import annotations

from typing import Any

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.outgoing.concerns import between_servers
from kith.federation.outgoing.telling import find_elsewhere, find_here, tell_one
from kith.federation.vocabulary.outgoing import activities
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships.facts import (
    Blocked,
    FollowAuthorized,
    FollowRejected,
    FollowRequested,
    FollowWithdrawn,
    Unblocked,
    Unfollowed,
)

__all__ = ["AT_ONCE", "KINDS", "tell_of_end"]


async def accept_follow(work: Work, me: Account, follower: Account, uri: str | None, id: int) -> None:
    """`uri` is the name that the Follow came with."""
    followed = activities.follow(follower.uri, me.uri, _name(uri, follower, id))
    await tell_one(work, me, follower.id, activities.accept_follow(followed, id))


async def reject_follow(work: Work, me: Account, follower: Account, uri: str | None, id: int) -> None:
    followed = activities.follow(follower.uri, me.uri, _name(uri, follower, id))
    await tell_one(work, me, follower.id, activities.reject_follow(followed, id))


def _name(uri: str | None, follower: Account, id: int) -> str:
    return uri or f"{follower.uri}#follows/{id}"


async def tell_of_request(work: Work, fact: FollowRequested) -> None:
    me, other = await find_here(work, fact.account_id), await find_elsewhere(work, fact.target_id)
    if me is not None and other is not None:
        activity = activities.follow(me.uri, other.uri, _name(fact.uri, me, fact.request_id))
        await tell_one(work, me, other.id, activity, even_if_dead=True)


async def tell_of_authorization(work: Work, fact: FollowAuthorized) -> None:
    """Somebody elsewhere was let in, at once or after they had asked; or is told so again."""
    follower, me = await find_elsewhere(work, fact.account_id), await find_here(work, fact.target_id)
    if me is not None and follower is not None:
        await accept_follow(work, me, follower, fact.uri, fact.request_id)


async def tell_of_unfollow(work: Work, fact: Unfollowed) -> None:
    await tell_of_end(work, fact.account_id, fact.target_id, fact.uri, fact.follow_id, by_target=fact.by_target)


async def tell_of_withdrawal(work: Work, fact: FollowWithdrawn) -> None:
    await tell_of_end(work, fact.account_id, fact.target_id, fact.uri, fact.request_id, by_target=False)


async def tell_of_rejection(work: Work, fact: FollowRejected) -> None:
    await tell_of_end(work, fact.account_id, fact.target_id, fact.uri, fact.request_id, by_target=True)


async def tell_of_end(
    work: Work, follower: AccountId, followed: AccountId, uri: str | None, id: int, *, by_target: bool
) -> None:
    """Of a follow, or of the wish for one."""
    me, other = await find_here(work, follower), await find_elsewhere(work, followed)
    if me is not None and other is not None and (not by_target or other.suspended_at is not None):
        made = activities.follow(me.uri, other.uri, _name(uri, me, id))
        await tell_one(work, me, other.id, activities.undo_follow(made, id), even_if_dead=True)
        return
    other, me = await find_elsewhere(work, follower), await find_here(work, followed)
    if me is not None and other is not None and (by_target or other.suspended_at is not None):
        await reject_follow(work, me, other, uri, id)


async def tell_of_block(work: Work, fact: Blocked) -> None:
    me, other = await find_here(work, fact.account_id), await find_elsewhere(work, fact.target_id)
    if me is not None and other is not None:
        await tell_one(work, me, other.id, _block(me, other, fact.uri, fact.block_id))


async def tell_of_unblock(work: Work, fact: Unblocked) -> None:
    me, other = await find_here(work, fact.account_id), await find_elsewhere(work, fact.target_id)
    if me is not None and other is not None:
        made = _block(me, other, fact.uri, fact.block_id)
        await tell_one(work, me, other.id, activities.undo_block(made, fact.block_id))


def _block(me: Account, other: Account, uri: str | None, id: int) -> Doc:
    return activities.block(me.uri, other.uri, uri or f"{me.uri}#blocks/{id}")


REQUESTED: JobKind[FollowRequested] = JobKind(
    name="federation_outgoing.requested", payload=FollowRequested, handler=tell_of_request, is_harmless=True
)
AUTHORIZED: JobKind[FollowAuthorized] = JobKind(
    name="federation_outgoing.authorized", payload=FollowAuthorized, handler=tell_of_authorization, is_harmless=True
)
UNFOLLOWED: JobKind[Unfollowed] = JobKind(
    name="federation_outgoing.unfollowed", payload=Unfollowed, handler=tell_of_unfollow, is_harmless=True
)
UNREQUESTED: JobKind[FollowWithdrawn] = JobKind(
    name="federation_outgoing.unrequested", payload=FollowWithdrawn, handler=tell_of_withdrawal, is_harmless=True
)
REJECTED: JobKind[FollowRejected] = JobKind(
    name="federation_outgoing.rejected", payload=FollowRejected, handler=tell_of_rejection, is_harmless=True
)
BLOCKED: JobKind[Blocked] = JobKind(
    name="federation_outgoing.blocked", payload=Blocked, handler=tell_of_block, is_harmless=True
)
UNBLOCKED: JobKind[Unblocked] = JobKind(
    name="federation_outgoing.unblocked", payload=Unblocked, handler=tell_of_unblock, is_harmless=True
)
_KINDS: tuple[tuple[Any, JobKind[Any]], ...] = (
    (FollowRequested, REQUESTED),
    (FollowAuthorized, AUTHORIZED),
    (Unfollowed, UNFOLLOWED),
    (FollowWithdrawn, UNREQUESTED),
    (FollowRejected, REJECTED),
    (Blocked, BLOCKED),
    (Unblocked, UNBLOCKED),
)
KINDS = tuple(kind for _, kind in _KINDS)
AT_ONCE = tuple((fact, between_servers(kind)) for fact, kind in _KINDS)
