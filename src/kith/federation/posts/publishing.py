"""Create, Update and Delete of posts."""

from __future__ import annotations

from datetime import timedelta

from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.known import Known
from kith.federation.posts import quoting, store, threads, votes
from kith.federation.posts.editing import edit
from kith.federation.posts.facts import NoteChanged
from kith.federation.posts.relevance import concerns_somebody
from kith.federation.posts.storing import add_note, add_recipient
from kith.federation.vocabulary.incoming import IncomingNote
from kith.federation.vocabulary.incoming.activities.shapes import IncomingCreate, IncomingDelete, IncomingUpdate
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses.service import remove
from kith.social.statuses.tables import Status

__all__ = ["apply_create", "apply_delete_note", "apply_update_note", "create"]

LATE = timedelta(days=1)  # as old as a post may be that is heard of by its first Update


async def apply_create(work: Work, known: Known, sender: Account, activity: IncomingCreate) -> None:
    if activity.note is None:
        await _look_up(work, known, sender, activity.object_id)
    elif await votes.is_choice(work, activity.note):
        await votes.choose(work, sender, activity.note)
    else:
        await create(work, known, sender, activity.note)


async def _look_up(work: Work, known: Known, sender: Account, uri: str) -> None:
    """Only the id was told: it is fetched if it came to somebody's own inbox, or its author is followed here."""
    if sender.is_gone or await ended.is_ended(work.db, uri, sender.uri, work.now):
        return
    if known.delivered_to is not None or await store.any_followed(work.db, [sender.id]):
        await known.status(work, uri)


async def create(work: Work, known: Known, sender: Account, note: IncomingNote) -> None:
    """A post that was sent; whoever it was sent to, into an inbox of their own, may see it."""
    delivered_to = known.delivered_to
    found = await statuses.find_by_uri(work.db, note.id)
    if found is not None:
        if delivered_to is not None and found.account_id == sender.id:
            await add_recipient(work, found, delivered_to)
        return
    if sender.is_gone or note.author != sender.uri or await is_over(work, note, sender):
        return
    parent = await threads.find_parent(work, note)
    is_open = note.audience.is_public_to or note.audience.is_public_cc
    is_for_one = delivered_to is not None and not is_open  # whom it does not name, but was sent to
    if not is_for_one and not await concerns_somebody(work, sender, note, parent):
        return
    await add_note(work, known, sender, note, parent, delivered_to=delivered_to)


async def is_over(work: Work, note: IncomingNote, author: Account) -> bool:
    """Deleted before it came, under either of its ids."""
    for uri in dict.fromkeys(uri for uri in (note.id, note.atom_uri) if uri is not None):
        if await ended.is_ended(work.db, uri, author.uri, work.now):
            return True
    return False


async def apply_update_note(work: Work, known: Known, sender: Account, activity: IncomingUpdate) -> None:
    """Of one that is not known and young, its author's word that it is there."""
    note = activity.note
    found = await statuses.find_by_uri(work.db, activity.object_id)
    if note is None:
        if found is not None and found.account_id == sender.id and found.deleted_at is None:
            work.announce(NoteChanged(uri=found.uri))
        return
    if found is None:
        is_vote = note.is_vote or await votes.is_choice(work, note)
        if not is_vote and (note.published is None or note.published > work.now - LATE):
            await create(work, known, sender, note)
        return
    if found.account_id == sender.id and found.deleted_at is None and found.reblog_of_id is None and not found.local:
        await edit(work, known, sender, found, note)


async def apply_delete_note(work: Work, _known: Known, sender: Account, activity: IncomingDelete) -> None:
    """A post, by either of its ids, or the leave to quote one. What is not here yet will be too late."""
    for uri in dict.fromkeys(uri for uri in (activity.object_id, activity.atom_uri) if uri is not None):
        await ended.remember(work.db, uri, sender.uri, work.now)
        found = await statuses.find_by_uri(work.db, uri)
        if found is not None and found.account_id == sender.id and not found.local:
            await end(work, found)
    await _revoke(work, sender, activity.object_id)


async def end(work: Work, status: Status) -> None:
    if status.deleted_at is None:
        await remove.remove(work, status, with_media=True)


async def _revoke(work: Work, sender: Account, stamp: str) -> None:
    """Only whoever is quoted takes back their own word."""
    for quote in await store.stamped_with(work.db, stamp):
        quoted = await statuses.find(work.db, quote.quoted_id) if quote.quoted_id is not None else None
        if quoted is not None and quoted.account_id == sender.id:
            await quoting.end(work, quote.id)
