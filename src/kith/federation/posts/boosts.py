"""Announce, and Undo of it."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.known import Known
from kith.federation.posts import rows
from kith.federation.posts.publishing import end, is_over
from kith.federation.posts.relevance import may_share
from kith.federation.posts.storing import followers_of, store_note
from kith.federation.relays.service import is_relay
from kith.federation.vocabulary.incoming.activities.shapes import IncomingAnnounce, IncomingUndo
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.relationships import store as relationships
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.service.boost import boost_row
from kith.social.statuses.tables import PRIVATE, UNLISTED, VISIBILITIES, Status

__all__ = ["apply_announce", "apply_undo_announce"]


async def apply_announce(work: Work, known: Known, sender: Account, activity: IncomingAnnounce) -> None:
    """Of what everybody may see, or of one's own. A relay only tells that something is there."""
    if activity.id is None or sender.is_gone or await statuses.find_by_uri(work.db, activity.id) is not None:
        return
    if await ended.is_ended(work.db, activity.id, sender.uri, work.now):
        return
    if await is_relay(work, sender):
        await known.status(work, activity.object_id)
    elif await may_share(work, sender, activity.object_id):
        original = await _original(work, known, sender, activity)
        if original is not None and await statuses.find_boost(work.db, sender.id, original.id) is None:
            await _boost(work, sender, activity, activity.id, original)


async def _original(work: Work, known: Known, sender: Account, activity: IncomingAnnounce) -> Status | None:
    if activity.note is not None and await is_over(work, activity.note, sender):
        return None
    if activity.note is not None:
        found: Status | None = await store_note(work, known, sender, activity.note, live=False)
    else:
        found = await known.status(work, activity.object_id)
    if found is not None and found.reblog_of_id is not None:
        found = await statuses.find(work.db, found.reblog_of_id)
    if found is None or found.deleted_at is not None:
        return None
    if await relationships.blocks_between(work.db, sender.id, found.account_id):
        return None
    is_own = found.account_id == sender.id and found.visibility == PRIVATE
    return found if found.visibility <= UNLISTED or is_own else None


async def _boost(work: Work, sender: Account, activity: IncomingAnnounce, uri: str, original: Status) -> None:
    audience = activity.audience
    is_open = audience.is_public_to or audience.is_public_cc
    followers = None if is_open else await followers_of(work, sender)
    visibility = min(VISIBILITIES.index(audience.visibility(followers, ())), PRIVATE)
    at, visibility = rows.created_at(activity.published, work.now), max(visibility, original.visibility)
    id = rows.id_of(at, work.now)
    status = boost_row(id, sender, original, uri=uri, visibility=visibility, at=at, fetched_at=work.now)
    await work.db.begin()
    await statuses.insert(work.db, status)
    await statuses.count(work.db, original.id, reblogs=1)
    last = max(status.created_at, sender.last_status_at or status.created_at)
    await accounts.posted(work.db, sender.id, last, counts=True)
    work.announce(StatusPosted(status_id=status.id, account_id=sender.id, reblog_of_id=original.id))


async def apply_undo_announce(work: Work, _known: Known, sender: Account, activity: IncomingUndo) -> None:
    """By what it was, by its id, or both; one that is not here yet will be too late."""
    undone = activity.undone if isinstance(activity.undone, IncomingAnnounce) else None
    uri = activity.object_id
    found = None
    if uri is not None:
        await ended.remember(work.db, uri, sender.uri, work.now)
        found = await statuses.find_by_uri(work.db, uri)
    if found is None and undone is not None:
        original = await statuses.find_by_uri(work.db, undone.object_id)
        found = None if original is None else await statuses.find_boost(work.db, sender.id, original.id)
    if found is not None and found.account_id == sender.id and found.reblog_of_id is not None:
        await end(work, found)
