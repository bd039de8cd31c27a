"""Carrying posts into feeds, taking them out again, and building feeds anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base.breath import Breath
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId, StatusId
from kith.social.lists import store as lists
from kith.social.lists.facts import ListChanged, ListDeleted, ListJoined, ListLeft
from kith.social.relationships import store as relationships
from kith.social.relationships.facts import Blocked, DomainBlocked, FollowChanged, Followed, Muted, Unfollowed, Unmuted
from kith.social.statuses.facts import StatusDeleted, StatusPosted
from kith.social.tags.facts import TagUnfollowed
from kith.social.timelines import feed_removal, feed_rules
from kith.social.timelines.facts import FeedsFilled
from kith.social.timelines.filling import (
    BUILD,
    MERGED,
    Build,
    aggregate,
    bring_home_later,
    bring_to_list_later,
    fill_list_later,
)

IDLE = timedelta(days=14)
IDLE_TOGETHER = 500
CHOICES = "feed_choices"  # a lane: one request may name hundreds for a list
TOGETHER = 5  # posts that are put into homes by one statement
LAST = 2**63 - 1


class FanOut(msgspec.Struct):
    """Into the homes of the followers whose follow is younger than `after`."""

    status_id: StatusId
    after: int = 0


class Tidy(msgspec.Struct):
    """Feeds of people long gone."""


async def carry(work: Work, facts: Sequence[StatusPosted]) -> None:
    """Lists, tags and few followers at once, many followers a stretch at a time: each stretch is a job of its own.

    Boosts go home one by one, for what one brings there keeps the next one of the same post away.
    """
    ids = [fact.status_id for fact in facts]
    await work.db.run(feed_rules.put_into_lists, statuses=ids, now=work.now)
    tagged = await work.db.all(feed_rules.with_followed_tag, statuses=ids)
    if tagged:
        await work.db.run(feed_rules.put_into_homes_by_tag, statuses=tagged, now=work.now)
    unfinished = await _put_into_homes(work, [fact.status_id for fact in facts if fact.reblog_of_id is None])
    for fact in facts:
        if fact.reblog_of_id is not None:
            unfinished += await _put_into_homes(work, [fact.status_id])
    await feeds.trim_in_turn(work.db, ids)
    work.announce(FeedsFilled(status_ids=tuple(ids), unfinished=tuple(unfinished)))


async def fan_out(work: Work, payload: FanOut) -> None:
    unfinished = await _put_into_homes(work, [payload.status_id], after=payload.after)
    if not unfinished:
        await feeds.trim_in_turn(work.db, [payload.status_id])
    work.announce(FeedsFilled(status_ids=(payload.status_id,), unfinished=tuple(unfinished)))


async def _put_into_homes(work: Work, ids: Sequence[StatusId], *, after: int = 0) -> list[StatusId]:
    """Of which of them there are more homes to fill."""
    if not ids:
        return []
    ends: dict[StatusId, int] = dict(await work.db.all(feed_rules.ends_of_chunks, statuses=list(ids), after=after))
    breath = Breath()
    for upto in {LAST, *ends.values()}:
        alike = [id for id in ids if ends.get(id, LAST) == upto]
        for start in range(0, len(alike), TOGETHER):
            some = alike[start : start + TOGETHER]
            await work.db.run(feed_rules.put_into_homes, statuses=some, after=after, upto=upto, now=work.now)
            await breath.take()  # a post may go into a thousand homes
    for id, upto in ends.items():
        work.enqueue(FAN_OUT, FanOut(status_id=id, after=upto))
    return list(ends)


async def withdraw(work: Work, fact: StatusDeleted) -> None:
    """Of several boosts of a post one stands in a home; where that one goes, the next takes its place."""
    were_there = await feeds.drop_status(work.db, fact.status_id)
    if were_there and fact.reblog_of_id is not None:
        for boost in await work.db.all(feed_rules.other_boosts, original=fact.reblog_of_id):
            await _put_into_homes(work, [boost])


async def merge(work: Work, me: AccountId, author_id: AccountId) -> None:
    """What an author said lately, into one's home and the lists they are on."""
    await work.db.run(feed_rules.merge_into_home, owner=me, author=author_id, most=MERGED, now=work.now)
    await aggregate(work, me)
    owners: list[int] = [me]
    for list_id in await work.db.all(feed_rules.lists_with, owner=me, author=author_id):
        await work.db.run(feed_rules.merge_into_list, owner=list_id, author=author_id, most=MERGED, now=work.now)
        owners.append(list_id)
    await feeds.trim(work.db, owners)


async def unmerge(work: Work, me: AccountId, author_id: AccountId) -> None:
    """From all one's lists, for the author may have left them already."""
    await feeds.drop_authors(work.db, await _feeds_of(work, me), [author_id])


async def _feeds_of(work: Work, me: AccountId) -> list[int]:
    """One's home, and all one's lists."""
    return [me, *await work.db.all(feed_rules.lists_of, owner=me)]


async def hide(work: Work, me: AccountId, author_id: AccountId) -> None:
    """Everything of and about somebody leaves one's feeds."""
    for owner in await _feeds_of(work, me):
        ids = await work.db.all(feed_removal.entries_with, owners=[owner], author=author_id)
        await feeds.drop_these(work.db, owner, ids)


async def take_up(work: Work, fact: Followed) -> None:
    """Somebody new is followed. Whoever has no feed yet, and is a member, gets one with everybody in it."""
    state = await feeds.find_state(work.db, fact.account_id)
    if state is not None and state.state == feeds.READY:
        await merge(work, fact.account_id, fact.target_id)
    elif state is not None:
        work.enqueue(BUILD, Build(account_id=fact.account_id), key=str(fact.account_id))


async def give_up(work: Work, fact: Unfollowed) -> None:
    await unmerge(work, fact.account_id, fact.target_id)


async def follow_anew(work: Work, fact: FollowChanged) -> None:
    """Boosts and languages are wanted or not wanted from now on, and so among what is there."""
    if await feeds.find_state(work.db, fact.account_id) is not None:
        await unmerge(work, fact.account_id, fact.target_id)
        await merge(work, fact.account_id, fact.target_id)


async def hide_blocked(work: Work, fact: Blocked) -> None:
    """From the feeds of both: neither sees the other any more."""
    await hide(work, fact.account_id, fact.target_id)
    await hide(work, fact.target_id, fact.account_id)


async def hide_muted(work: Work, fact: Muted) -> None:
    await hide(work, fact.account_id, fact.target_id)


async def hide_domain(work: Work, fact: DomainBlocked) -> None:
    """Everything said by anybody there, and boosts of it, leaves one's feeds."""
    for owner in await _feeds_of(work, fact.account_id):
        ids = await work.db.all(feed_removal.entries_from, owner=owner, domain=fact.domain)
        await feeds.drop_these(work.db, owner, ids)


async def show_again(work: Work, fact: Unmuted) -> None:
    """What is merged is what the rules allow: nothing of somebody who is not followed."""
    if await feeds.find_state(work.db, fact.account_id) is not None:
        await merge(work, fact.account_id, fact.target_id)


# Lists and tags


async def bring_into_list(work: Work, facts: Sequence[ListJoined]) -> None:
    """Whoever is on an exclusive list is read there, and no longer at home. Of many who join a list, all at once."""
    for (me, list_id), member_ids in _by_list(facts).items():
        found = await lists.find(work.db, me, list_id)
        if found is None or await feeds.find_state(work.db, me) is None:
            continue
        bring_to_list_later(work, me, found.id, member_ids)
        if found.exclusive:
            await feeds.drop_authors(work.db, [me], [id for id in member_ids if id != me])


async def take_from_list(work: Work, facts: Sequence[ListLeft]) -> None:
    for (me, list_id), member_ids in _by_list(facts).items():
        await feeds.drop_authors(work.db, [list_id], member_ids)
        bring_home_later(work, me, member_ids)


def _by_list(facts: Sequence[ListJoined | ListLeft]) -> dict[tuple[AccountId, int], list[AccountId]]:
    """Who joined, or left, each list of somebody's."""
    found: dict[tuple[AccountId, int], list[AccountId]] = defaultdict(list)
    for fact in facts:
        found[fact.account_id, fact.list_id].append(fact.member_id)
    return found


async def rebuild_list(work: Work, fact: ListChanged) -> None:
    found = await lists.find(work.db, fact.account_id, fact.list_id)
    if found is None or await feeds.find_state(work.db, fact.account_id) is None:
        return
    if fact.replies:
        fill_list_later(work, fact.account_id, found.id)
    if not fact.exclusive:
        return
    if found.exclusive:
        await keep_members_out(work, fact)
    else:
        bring_home_later(work, fact.account_id, await _members_but(work, found.id, fact.account_id))


async def drop_list(work: Work, fact: ListDeleted) -> None:
    await feeds.clear(work.db, fact.list_id)
    bring_home_later(work, fact.account_id, fact.member_ids)


async def drop_tag(work: Work, fact: TagUnfollowed) -> None:
    """What only this tag had brought leaves one's home; what a follow would bring comes again."""
    found = await work.db.all(feed_removal.brought_by_tag, owner=fact.account_id, tag=fact.tag_id)
    await feeds.drop_these(work.db, fact.account_id, [status_id for status_id, _ in found])
    bring_home_later(work, fact.account_id, sorted({author_id for _, author_id in found}))


# What is done before the answer leaves: whatever is not wanted any more is not shown any more. The jobs above do it
# again, for posts that were being carried into the feeds at that very moment.


async def drop_boosts(work: Work, fact: FollowChanged) -> None:
    follow = await relationships.find_follow(work.db, fact.account_id, fact.target_id)
    if follow is not None and not follow.reblogs:
        await feeds.drop_boosts(work.db, await _feeds_of(work, fact.account_id), fact.target_id)


async def leave_list(work: Work, fact: ListLeft) -> None:
    await feeds.drop_authors(work.db, [fact.list_id], [fact.member_id])


async def keep_member_out(work: Work, fact: ListJoined) -> None:
    """Whoever is on an exclusive list is not read at home."""
    found = await lists.find(work.db, fact.account_id, fact.list_id)
    if found is not None and found.exclusive and fact.member_id != fact.account_id:
        await feeds.drop_authors(work.db, [fact.account_id], [fact.member_id])


async def keep_members_out(work: Work, fact: ListChanged) -> None:
    """The same for everybody on a list that has become exclusive."""
    found = await lists.find(work.db, fact.account_id, fact.list_id)
    if fact.exclusive and found is not None and found.exclusive:
        members = await _members_but(work, found.id, fact.account_id)
        await feeds.drop_authors(work.db, [fact.account_id], members)


async def _members_but(work: Work, list_id: int, me: AccountId) -> list[AccountId]:
    return [id for id in await lists.members_of(work.db, list_id) if id != me]


async def leave_tag(work: Work, fact: TagUnfollowed) -> None:
    """What a follow would bring as well stays."""
    found = await work.db.all(feed_removal.brought_by_tag_alone, owner=fact.account_id, tag=fact.tag_id)
    await feeds.drop_these(work.db, fact.account_id, [status_id for status_id, _ in found])


async def tidy(work: Work, _payload: Tidy) -> None:
    idle = await feeds.idle_since(work.db, work.now - IDLE, most=IDLE_TOGETHER)
    for me in idle:
        await feeds.clear_many(work.db, await work.db.all(feed_rules.lists_of, owner=me))
    await feeds.forget(work.db, idle)
    if len(idle) == IDLE_TOGETHER:
        work.enqueue(TIDY, Tidy())


CARRY: JobKind[StatusPosted] = JobKind(name="timelines.carry", payload=StatusPosted, many=carry)
FAN_OUT: JobKind[FanOut] = JobKind(name="timelines.fan_out", payload=FanOut, handler=fan_out)
WITHDRAW: JobKind[StatusDeleted] = JobKind(name="timelines.withdraw", payload=StatusDeleted, handler=withdraw)
TIDY: JobKind[Tidy] = JobKind(name="timelines.tidy", payload=Tidy, handler=tidy)
TAKE_UP: JobKind[Followed] = JobKind(name="timelines.take_up", payload=Followed, handler=take_up)
GIVE_UP: JobKind[Unfollowed] = JobKind(name="timelines.give_up", payload=Unfollowed, handler=give_up)
FOLLOW_ANEW: JobKind[FollowChanged] = JobKind(name="timelines.follow_anew", payload=FollowChanged, handler=follow_anew)
HIDE_BLOCKED: JobKind[Blocked] = JobKind(name="timelines.hide_blocked", payload=Blocked, handler=hide_blocked)
HIDE_MUTED: JobKind[Muted] = JobKind(name="timelines.hide_muted", payload=Muted, handler=hide_muted)
HIDE_DOMAIN: JobKind[DomainBlocked] = JobKind(name="timelines.hide_domain", payload=DomainBlocked, handler=hide_domain)
SHOW_AGAIN: JobKind[Unmuted] = JobKind(name="timelines.show_again", payload=Unmuted, handler=show_again)
BRING_INTO_LIST: JobKind[ListJoined] = JobKind(
    name="timelines.bring_into_list", payload=ListJoined, many=bring_into_list, together_in=CHOICES
)
TAKE_FROM_LIST: JobKind[ListLeft] = JobKind(
    name="timelines.take_from_list", payload=ListLeft, many=take_from_list, together_in=CHOICES
)
REBUILD_LIST: JobKind[ListChanged] = JobKind(name="timelines.rebuild_list", payload=ListChanged, handler=rebuild_list)
DROP_LIST: JobKind[ListDeleted] = JobKind(name="timelines.drop_list", payload=ListDeleted, handler=drop_list)
DROP_TAG: JobKind[TagUnfollowed] = JobKind(name="timelines.drop_tag", payload=TagUnfollowed, handler=drop_tag)
