"""Favourites, bookmarks, pins, and threads one wants to hear no more of."""

from __future__ import annotations

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store, subjects
from kith.social.statuses.facts import StatusFavourited, StatusPinned, StatusUnfavourited
from kith.social.statuses.subjects import Subject
from kith.social.statuses.tables import PRIVATE, Status

MOST_PINS = 5


async def visible(work: Work, me: AccountId | None, status_id: StatusId) -> Status:
    """A status, or what it boosts, for whoever looks."""
    found = await store.find_visible(work.db, status_id, me)
    if found is not None and found.reblog_of_id is not None:
        found = await store.find_visible(work.db, found.reblog_of_id, me)
    if found is None:
        raise NotFound
    return found


async def _visible(work: Work, me: AccountId, status_id: StatusId) -> Subject:
    """What is marked: the status, or what it boosts."""
    found = await subjects.find(work.db, status_id, me)
    if found is None:
        raise NotFound
    return found


async def favourite(work: Work, me: AccountId, status_id: StatusId) -> Subject:
    status = await _visible(work, me, status_id)
    if status.is_blocked:
        raise Forbidden
    id = work.new_id()
    if await store.mark(work.db, "favourites", me, status.id, id=id, now=work.now):
        await store.count(work.db, status.id, favourites=1)
        work.announce(StatusFavourited(status.id, me, favourite_id=id, is_elsewhere=not status.local))
    return status


async def unfavourite(work: Work, me: AccountId, status_id: StatusId) -> StatusId:
    """Also when the status may not be seen any more. The id of what was a favourite."""
    found = await _find(work, status_id)
    subject = found.reblog_of_id or found.id
    dropped = await store.unfavourite(work.db, me, subject)
    if dropped is not None:
        await store.count(work.db, subject, favourites=-1)
        may_be_elsewhere = not found.local or found.reblog_of_id is not None
        work.announce(StatusUnfavourited(subject, me, favourite_id=dropped, may_be_elsewhere=may_be_elsewhere))
    elif await store.find_visible(work.db, subject, me) is None:
        raise NotFound
    return subject


async def bookmark(work: Work, me: AccountId, status_id: StatusId) -> Subject:
    status = await _visible(work, me, status_id)
    await store.mark(work.db, "bookmarks", me, status.id, id=work.new_id(), now=work.now)
    return status


async def unbookmark(work: Work, me: AccountId, status_id: StatusId) -> StatusId:
    found = await _find(work, status_id)
    subject = found.reblog_of_id or found.id
    dropped = await store.unmark(work.db, "bookmarks", me, subject)
    if not dropped and await store.find_visible(work.db, subject, me) is None:
        raise NotFound
    return subject


async def _find(work: Work, status_id: StatusId) -> Status:
    found = await store.find(work.db, status_id)
    if found is None or found.deleted_at is not None:
        raise NotFound
    return found


async def pin(work: Work, me: AccountId, status_id: StatusId) -> Status:
    status = await store.find_visible(work.db, status_id, me)
    if status is None:
        raise NotFound
    if status.reblog_of_id is not None:
        raise _wrong("A boost cannot be pinned")
    if status.account_id != me:
        raise _wrong("Someone else's post cannot be pinned")
    if status.visibility > PRIVATE:
        raise _wrong("Posts that are only visible to mentioned users cannot be pinned")
    await work.db.hold(f"pins:{me}")
    pinned = await store.pinned_by(work.db, me)
    if status.id in pinned:
        raise _wrong("Account has already been taken")
    if len(pinned) >= MOST_PINS:
        raise _wrong("You have already pinned the maximum number of posts")
    await store.mark(work.db, "pins", me, status.id, id=work.new_id(), now=work.now)
    work.announce(StatusPinned(status_id=status.id, account_id=me, pinned=True))
    return status


async def unpin(work: Work, me: AccountId, status_id: StatusId) -> Status:
    status = await store.find_visible(work.db, status_id, me)
    if status is None or status.account_id != me:
        raise NotFound
    if await store.unmark(work.db, "pins", me, status.id):
        work.announce(StatusPinned(status_id=status.id, account_id=me, pinned=False))
    return status


async def mute(work: Work, me: AccountId, status_id: StatusId) -> Subject:
    status = await _visible(work, me, status_id)
    await store.mute_conversation(work.db, me, status.conversation_id)
    return status


async def unmute(work: Work, me: AccountId, status_id: StatusId) -> Subject:
    status = await _visible(work, me, status_id)
    await store.unmute_conversation(work.db, me, status.conversation_id)
    return status


def _wrong(words: str) -> Invalid:
    return Invalid(fields={"": [Complaint(words)]})
