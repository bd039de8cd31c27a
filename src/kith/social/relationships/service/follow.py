"""Following: at once or on request, and all that can be said to a request."""

from __future__ import annotations

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import FollowAuthorized, FollowChanged, Followed, FollowRequested
from kith.social.relationships.service.common import (
    RelationshipRefused,
    count_follow,
    end_follow,
    hold,
    refuse,
    target,
    withdraw,
)
from kith.social.relationships.tables import Follow
from kith.social.text.languages import MOST_CHOSEN, is_language

MOST = 7500
PER_FOLLOWER = 1.1
AT_ONCE = 100
OWN = "Following your own account is not allowed"
TOO_MANY = f"Validation failed: You cannot follow more than {MOST} people"


class Options(msgspec.Struct, frozen=True):
    """What is wanted of somebody; None leaves it as it is. An empty list of languages means all of them."""

    reblogs: bool | None = None
    notify: bool | None = None
    languages: list[str] | None = None


async def follow(work: Work, actor: Account, target_id: AccountId, options: Options, *, by_hand: bool = False) -> None:
    """Follow or ask to; whoever does already has their options changed.

    Where nothing is to change, and somebody elsewhere was asked for `by_hand`, their server is told once more.
    """
    options = msgspec.structs.replace(options, languages=_checked(options.languages))
    other = await target(work, target_id)
    if other.is_gone:
        raise NotFound
    if other.id == actor.id:
        raise Forbidden(OWN)
    await hold(work, actor.id, other.id)
    await _check(work, actor, other)
    if await _change(work, actor, other, options, by_hand=by_hand):
        return
    await _check_limit(work, actor)
    row = _with(_new_follow(work, actor, other), options)
    if await must_ask(work, actor, other):
        if await store.add_request(work.db, row):
            work.announce(FollowRequested(account_id=actor.id, target_id=other.id, request_id=row.id, uri=row.uri))
        return
    await begin(work, row)


def _new_follow(work: Work, actor: Account, other: Account) -> Follow:
    id = work.new_id()
    return Follow(
        id=id,
        account_id=actor.id,
        target_id=other.id,
        reblogs=True,
        notify=False,
        languages=None,
        uri=f"{actor.uri}#follows/{id}",
        created_at=work.now,
    )


def _checked(languages: list[str] | None) -> list[str] | None:
    if languages is None:
        return None
    codes = [code for code in languages if code]
    if len(codes) > MOST_CHOSEN:
        raise Invalid(fields={"languages": [Complaint(f"has too many entries (maximum is {MOST_CHOSEN})", "too_many")]})
    if not all(is_language(code) for code in codes):
        raise Invalid(fields={"languages": [Complaint("is not included in the list", "inclusion")]})
    return list(dict.fromkeys(codes))


async def _check(work: Work, actor: Account, other: Account) -> None:
    if other.moved_to is not None or await store.blocks_between(work.db, actor.id, other.id):
        raise Forbidden
    if other.domain and await store.blocks_domain(work.db, actor.id, other.domain):
        raise Forbidden


async def _check_limit(work: Work, actor: Account) -> None:
    """Whoever has many followers may follow about as many."""
    now = await accounts.find(work.db, actor.id)
    if now is not None and now.following_count >= max(MOST, int(now.followers_count * PER_FOLLOWER)):
        raise RelationshipRefused(TOO_MANY)


async def must_ask(work: Work, actor: Account, other: Account) -> bool:
    """Whether a follow has to wait for a yes."""
    if other.locked or not other.is_local or actor.silenced_at is not None:
        return True
    return await store.is_muting(work.db, other.id, actor.id, work.now)


async def _change(work: Work, actor: Account, other: Account, options: Options, *, by_hand: bool) -> bool:
    """The options of a follow, or of the wish for one. False when there is neither."""
    found = await store.find_follow(work.db, actor.id, other.id)
    asked = None if found is not None else await store.find_request(work.db, actor.id, other.id)
    row = found or asked
    if row is None:
        return False
    changed = _with(row, options)
    if changed == row:
        if by_hand and not other.is_local:
            await _ask_again(work, actor, other, row, is_wish=found is None)
    elif found is None:
        await store.change_request(work.db, changed)
    else:
        await store.change_follow(work.db, changed)
        work.announce(FollowChanged(account_id=actor.id, target_id=other.id, follow_id=row.id))
    return True


async def _ask_again(work: Work, actor: Account, other: Account, row: Follow, *, is_wish: bool) -> None:
    """A server that shuts ours out ends follows without a word, and takes no wishes.

    A follow has a new name from now on, for the old one may be remembered there as done.
    """
    id, uri = row.id, row.uri
    if not is_wish:
        id = work.new_id()
        uri = f"{actor.uri}#follows/{id}"
        await store.name_follow(work.db, row, uri)
    work.announce(FollowRequested(account_id=actor.id, target_id=other.id, request_id=id, uri=uri))


def _with(row: Follow, options: Options) -> Follow:
    return msgspec.structs.replace(
        row,
        reblogs=row.reblogs if options.reblogs is None else options.reblogs,
        notify=row.notify if options.notify is None else options.notify,
        languages=row.languages if options.languages is None else options.languages or None,
    )


async def begin(work: Work, row: Follow) -> bool:
    """From now on one follows the other; the very first of all starts a feed."""
    if not await store.add_follow(work.db, row):
        return False
    await count_follow(work, row.account_id, row.target_id, 1)
    await _start_feed(work, row.account_id)
    work.announce(Followed(account_id=row.account_id, target_id=row.target_id, follow_id=row.id))
    return True


async def _start_feed(work: Work, me: AccountId) -> None:
    account = await accounts.find(work.db, me)
    is_first = account is not None and account.is_local and account.following_count == 1
    if is_first and await feeds.find_state(work.db, me) is None:
        await feeds.set_state(work.db, me, feeds.BUILDING, work.now)


async def unfollow(work: Work, actor: Account, target_id: AccountId) -> None:
    """Also takes back a wish that was not answered."""
    other = await target(work, target_id)
    await hold(work, actor.id, other.id)
    await end_follow(work, actor.id, other.id)
    await withdraw(work, actor.id, other.id)


async def remove_follower(work: Work, actor: Account, follower_id: AccountId) -> None:
    other = await target(work, follower_id)
    await hold(work, actor.id, other.id)
    await end_follow(work, other.id, actor.id, by_target=True)


# Answering those who ask


async def authorize(work: Work, actor: Account, follower_id: AccountId) -> None:
    await hold(work, actor.id, follower_id)
    if not await let_follow(work, actor.id, follower_id):
        raise NotFound


async def let_follow(work: Work, me: AccountId, follower_id: AccountId) -> bool:
    """False when nobody has asked."""
    asked = await store.drop_request(work.db, follower_id, me)
    if asked is None:
        return False
    follow = msgspec.structs.replace(asked, id=work.new_id(), created_at=work.now)
    work.announce(FollowAuthorized(account_id=follower_id, target_id=me, request_id=asked.id, uri=asked.uri))
    await begin(work, follow)
    return True


async def reject(work: Work, actor: Account, follower_id: AccountId) -> None:
    await hold(work, actor.id, follower_id)
    if not await refuse(work, follower_id, actor.id):
        raise NotFound


async def authorize_all(work: Work, me: AccountId) -> bool:
    """Let in those who ask, as many as can be at once. True when more are waiting."""
    waiting = await store.welcome_requests(work.db, me, AT_ONCE)
    for follower_id in sorted(waiting):
        await hold(work, me, follower_id)
        await let_follow(work, me, follower_id)
    return len(waiting) == AT_ONCE
