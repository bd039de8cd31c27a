"""What every verb between two people needs."""

from __future__ import annotations

from kith.base.errors import NotFound, Problem
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import FollowRejected, FollowWithdrawn, Unfollowed


class RelationshipRefused(Problem):
    """A rule over several things at once says no."""

    status = 422
    code = "refused"
    message = "Validation failed"


async def target(work: Work, id: AccountId) -> Account:
    """Whom a verb is about: whoever waits to be let in is not there yet."""
    found = await accounts.find(work.db, id)
    if found is None or not found.is_listed:
        raise NotFound
    return found


async def hold(work: Work, one: AccountId, other: AccountId) -> None:
    """Nothing else happens between these two until this work ends, so what is read next stays true."""
    await work.db.hold(f"relationship:{min(one, other)}:{max(one, other)}")


async def count_follow(work: Work, follower: AccountId, followed: AccountId, change: int) -> None:
    """Both counts, always in the order of the ids, so that two works never wait for each other."""
    for id in sorted((follower, followed)):
        if id == follower:
            await accounts.count(work.db, id, following=change)
        else:
            await accounts.count(work.db, id, followers=change)


async def end_follow(work: Work, follower: AccountId, followed: AccountId, *, by_target: bool = False) -> bool:
    """Take a follow away, with what hung on it. False when there was none."""
    gone = await store.drop_follow(work.db, follower, followed)
    if gone is None:
        return False
    await count_follow(work, follower, followed, -1)
    await store.unendorse(work.db, follower, followed)
    work.announce(
        Unfollowed(account_id=follower, target_id=followed, follow_id=gone.id, uri=gone.uri, by_target=by_target)
    )
    return True


async def withdraw(work: Work, follower: AccountId, followed: AccountId) -> bool:
    gone = await store.drop_request(work.db, follower, followed)
    if gone is not None:
        work.announce(FollowWithdrawn(account_id=follower, target_id=followed, request_id=gone.id, uri=gone.uri))
    return gone is not None


async def refuse(work: Work, follower: AccountId, followed: AccountId) -> bool:
    gone = await store.drop_request(work.db, follower, followed)
    if gone is not None:
        work.announce(FollowRejected(account_id=follower, target_id=followed, request_id=gone.id, uri=gone.uri))
    return gone is not None


async def part(work: Work, me: AccountId, other: AccountId) -> None:
    """Neither follows the other any more, nor asks to."""
    await end_follow(work, me, other)
    await end_follow(work, other, me, by_target=True)
    await withdraw(work, me, other)
    await refuse(work, other, me)
