"""What people on other servers do towards members, and what they answer: under ids that their servers have given."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.relationships import store
from kith.social.relationships.facts import FollowAuthorized, FollowRejected, FollowRequested
from kith.social.relationships.service.common import end_follow, hold, refuse, withdraw
from kith.social.relationships.service.follow import begin, let_follow, must_ask
from kith.social.relationships.tables import Follow

__all__ = ["answer_no", "answer_yes", "follow", "take_back_yes", "unfollow"]


async def follow(work: Work, actor: Account, other: Account, uri: str) -> None:
    """Let in at once, asked about, or refused; the follower's server is told by what it calls the follow.

    Whoever follows already is told so again: their server may have lost the answer.
    """
    await hold(work, actor.id, other.id)
    if await _is_unwanted(work, actor, other):
        await end_follow(work, actor.id, other.id, by_target=True)
        await refuse(work, actor.id, other.id)
        work.announce(FollowRejected(account_id=actor.id, target_id=other.id, request_id=work.new_id(), uri=uri))
        return
    if await _is_there(work, actor, other, uri):
        return
    row = _new_follow(work, actor, other, uri)
    if await must_ask(work, actor, other):
        if await store.add_request(work.db, row):
            work.announce(FollowRequested(account_id=actor.id, target_id=other.id, request_id=row.id))
        return
    if await begin(work, row):
        work.announce(FollowAuthorized(account_id=actor.id, target_id=other.id, request_id=row.id, uri=uri))


async def _is_unwanted(work: Work, actor: Account, other: Account) -> bool:
    if other.moved_to is not None or other.is_gone or other.memorial:
        return True
    if await store.blocks_between(work.db, actor.id, other.id):
        return True
    return bool(actor.domain) and await store.blocks_domain(work.db, other.id, actor.domain)


async def _is_there(work: Work, actor: Account, other: Account, uri: str) -> bool:
    """The last name of a follow, or of the wish for one, is the one that counts."""
    found = await store.find_follow(work.db, actor.id, other.id)
    if found is not None:
        await store.name_follow(work.db, found, uri)
        work.announce(FollowAuthorized(account_id=actor.id, target_id=other.id, request_id=found.id, uri=uri))
        return True
    asked = await store.find_request(work.db, actor.id, other.id)
    if asked is not None:
        await store.name_request(work.db, asked, uri)
    return asked is not None


def _new_follow(work: Work, actor: Account, other: Account, uri: str) -> Follow:
    return Follow(
        id=work.new_id(),
        account_id=actor.id,
        target_id=other.id,
        reblogs=True,
        notify=False,
        languages=None,
        uri=uri,
        created_at=work.now,
    )


async def unfollow(work: Work, actor: Account, other: Account) -> bool:
    """Also takes back a wish. False when there was neither."""
    await hold(work, actor.id, other.id)
    ended = await end_follow(work, actor.id, other.id)
    return await withdraw(work, actor.id, other.id) or ended


# Answers to members who want to follow somebody elsewhere


async def answer_yes(work: Work, actor: Account, follower: Account) -> bool:
    """`actor` lets `follower` follow them. False when nobody has asked."""
    await hold(work, actor.id, follower.id)
    return await let_follow(work, actor.id, follower.id)


async def answer_no(work: Work, actor: Account, follower: Account) -> bool:
    """`actor` does not want to be followed, or no longer. False when there is nothing to refuse."""
    await hold(work, actor.id, follower.id)
    refused = await refuse(work, follower.id, actor.id)
    return await end_follow(work, follower.id, actor.id, by_target=True) or refused


async def take_back_yes(work: Work, actor: Account, follower: Account) -> bool:
    """What was a follow is a wish again, which `actor` may answer anew. False when there was none."""
    await hold(work, actor.id, follower.id)
    found = await store.find_follow(work.db, follower.id, actor.id)
    if found is None:
        return False
    await end_follow(work, follower.id, actor.id, by_target=True)
    await store.add_request(work.db, msgspec.structs.replace(found, id=work.new_id(), created_at=work.now))
    return True
