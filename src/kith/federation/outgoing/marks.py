"""Favourites, votes, and what somebody puts on their profile."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.outgoing.changes import tell_of_votes_later
from kith.federation.outgoing.concerns import any_elsewhere, knows_anybody
from kith.federation.outgoing.telling import find_elsewhere, find_here, tell_followers, tell_one
from kith.federation.vocabulary.outgoing import activities, tags
from kith.social.ids import StatusId
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import PollVoted, StatusFavourited, StatusPinned, StatusUnfavourited
from kith.social.statuses.tables import Status, votes
from kith.social.tags import store as tags_store
from kith.social.tags.facts import TagFeatured

__all__ = [
    "KINDS",
    "count_elsewhere",
    "like_elsewhere",
    "tell_of_pin_later",
    "tell_of_tag_later",
    "unlike_elsewhere",
]

TOLD_AFTER = timedelta(seconds=5)

_votes = query(select(votes.c.id, votes.c.choice).where(any_of(votes.c.id, "ids")).order_by(votes.c.id), tuple)


async def like_elsewhere(work: Work, fact: StatusFavourited) -> None:
    """Most favourites are of posts that were written here: nothing is done for them."""
    if fact.is_elsewhere:
        work.enqueue(FAVOURITED, fact)


async def unlike_elsewhere(work: Work, fact: StatusUnfavourited) -> None:
    """As with favourites."""
    if fact.may_be_elsewhere:
        work.enqueue(UNFAVOURITED, fact)


async def tell_of_favourite(work: Work, fact: StatusFavourited) -> None:
    me, status = await find_here(work, fact.account_id), await _elsewhere(work, fact.status_id)
    if me is not None and status is not None:
        await tell_one(work, me, status.account_id, activities.like(me.uri, fact.favourite_id, status.uri))


async def take_back_favourite(work: Work, fact: StatusUnfavourited) -> None:
    me, status = await find_here(work, fact.account_id), await _elsewhere(work, fact.status_id)
    if me is not None and status is not None:
        await tell_one(work, me, status.account_id, activities.undo_like(me.uri, fact.favourite_id, status.uri))


async def _elsewhere(work: Work, id: StatusId) -> Status | None:
    found = await statuses.find(work.db, id)
    return None if found is None or found.local or found.deleted_at is not None else found


async def count_elsewhere(work: Work, fact: PollVoted) -> None:
    """Whoever asks is told of the vote; the counts of polls here go to everybody who has the poll."""
    if await any_elsewhere(work.db, fact.asker_id):
        work.enqueue(VOTED, fact)
    elif not fact.hides_counts and await knows_anybody(work.db):
        tell_of_votes_later(work, fact.status_id)


async def tell_of_votes(work: Work, fact: PollVoted) -> None:
    status = await _elsewhere(work, fact.status_id)
    if status is None:
        return
    me = await find_here(work, fact.account_id)
    poll = (await polls.find_all(work.db, [fact.poll_id])).get(fact.poll_id)
    asker = await find_elsewhere(work, status.account_id)
    if me is None or poll is None or asker is None:
        return
    for vote_id, choice in await work.db.all(_votes, ids=list(fact.vote_ids)):
        if choice < len(poll.options):
            activity = activities.vote(me.uri, vote_id, poll.options[choice], status.uri, asker.uri)
            await tell_one(work, me, status.account_id, activity)


async def tell_of_pin_later(work: Work, fact: StatusPinned) -> None:
    """Whoever changes their mind within a moment has done nothing: the first change waits, and is told if it stands."""
    if await knows_anybody(work.db):
        work.enqueue(PINNED, fact, at=work.now + TOLD_AFTER, key=str(fact.status_id))


async def tell_of_tag_later(work: Work, fact: TagFeatured) -> None:
    """As with pins."""
    if await knows_anybody(work.db):
        work.enqueue(FEATURED, fact, at=work.now + TOLD_AFTER, key=f"{fact.account_id} {fact.tag_id}")


async def tell_of_pin(work: Work, fact: StatusPinned) -> None:
    if (fact.status_id in await statuses.pinned_by(work.db, fact.account_id)) != fact.pinned:
        return
    me, status = await find_here(work, fact.account_id), await statuses.find(work.db, fact.status_id)
    if me is not None and status is not None and status.local and status.deleted_at is None:
        change = activities.add if fact.pinned else activities.remove
        await tell_followers(work, me, change(me.uri, status.uri))


async def tell_of_tag(work: Work, fact: TagFeatured) -> None:
    me = await find_here(work, fact.account_id)
    featured = {one.tag_id for one in await tags_store.features_of(work.db, fact.account_id)}
    if me is not None and fact.name and (fact.tag_id in featured) == fact.featured:
        change = activities.add if fact.featured else activities.remove
        await tell_followers(work, me, change(me.uri, tags.featured_tag(me.url or me.uri, fact.name)))


FAVOURITED: JobKind[StatusFavourited] = JobKind(
    name="federation_outgoing.favourited", payload=StatusFavourited, handler=tell_of_favourite, is_harmless=True
)
UNFAVOURITED: JobKind[StatusUnfavourited] = JobKind(
    name="federation_outgoing.unfavourited", payload=StatusUnfavourited, handler=take_back_favourite, is_harmless=True
)
VOTED: JobKind[PollVoted] = JobKind(
    name="federation_outgoing.voted", payload=PollVoted, handler=tell_of_votes, is_harmless=True
)
PINNED: JobKind[StatusPinned] = JobKind(
    name="federation_outgoing.pinned", payload=StatusPinned, handler=tell_of_pin, is_harmless=True
)
FEATURED: JobKind[TagFeatured] = JobKind(
    name="federation_outgoing.featured", payload=TagFeatured, handler=tell_of_tag, is_harmless=True
)
KINDS = (FAVOURITED, UNFAVOURITED, VOTED, PINNED, FEATURED)
