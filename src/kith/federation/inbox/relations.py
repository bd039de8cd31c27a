"""What people elsewhere do towards people here: follow, block, like, and answer those who want to follow them."""

from __future__ import annotations

from urllib.parse import unquote

from kith.base.errors import Forbidden, NotFound
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.inbox import store
from kith.federation.inbox.undone import is_late, remember_end
from kith.federation.known import Known
from kith.federation.people import store as people
from kith.federation.sync.facts import GhostFollowFound
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAccept,
    IncomingBlock,
    IncomingFollow,
    IncomingLike,
    IncomingReject,
    IncomingUndo,
)
from kith.federation.vocabulary.outgoing import activities, identifiers
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.relationships import store as relationships
from kith.social.relationships.service import apart, elsewhere
from kith.social.statuses import store as statuses
from kith.social.statuses.service import marks
from kith.social.statuses.tables import Status

__all__ = [
    "apply_accept_follow",
    "apply_block",
    "apply_follow",
    "apply_like",
    "apply_reject_follow",
    "apply_undo_accept",
    "apply_undo_block",
    "apply_undo_called",
    "apply_undo_follow",
    "apply_undo_like",
]


LONGEST_NAME = 200


async def _member(work: Work, uri: str | None) -> Account | None:
    """Somebody who lives here."""
    found = await accounts.find_by_uri(work.db, uri) if uri else None
    if found is None and uri:
        found = await _at_page(work, uri)
    return found if found is not None and found.is_local and found.is_listed and found.deleted_at is None else None


async def _at_page(work: Work, url: str) -> Account | None:
    """Whose page is at `/@name`: some servers follow by what people read."""
    beginning = f"{work.settings.base_url}/@"
    name = unquote(url.removeprefix(beginning)) if url.startswith(beginning) else ""
    return await accounts.find_named(work.db, name) if 0 < len(name) <= LONGEST_NAME and "@" not in name else None


# Follow


async def apply_follow(work: Work, known: Known, sender: Account, activity: IncomingFollow) -> None:
    """Nobody follows the server itself."""
    if activity.object_id == identifiers.server_actor(work.settings):
        await _refuse_for_server(work, sender, activity)
        return
    other = await _member(work, activity.object_id)
    if other is None or activity.id is None or await is_late(work, known, sender, activity.id):
        return
    await elsewhere.follow(work, sender, other, activity.id)


async def _refuse_for_server(work: Work, sender: Account, activity: IncomingFollow) -> None:
    actor = await people.find_actor(work.db, sender.id)
    if actor is not None and activity.id is not None:
        followed = activities.follow(sender.uri, activity.object_id, activity.id)
        refused = activities.reject_follow(followed, work.new_id())
        await deliver(work, activity=refused, sender=None, inboxes=[actor.inbox])


async def apply_undo_follow(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> None:
    undone = activity.undone
    other = await _member(work, undone.object_id) if isinstance(undone, IncomingFollow) else None
    was_there = other is not None and await elsewhere.unfollow(work, sender, other)
    await remember_end(work, known, sender, activity.object_id, was_there=was_there)


# Answers


async def _asker(work: Work, sender: Account, activity: IncomingAccept | IncomingReject) -> Account | None:
    """Whose follow of the sender is answered: by what it embeds, or by what the follow is called."""
    answered = activity.answered
    found = await _member(work, answered.actor) if isinstance(answered, IncomingFollow) else None
    if found is not None or activity.object_id is None:
        return found
    row = await relationships.answered_by(work.db, sender.id, activity.object_id)
    found = await accounts.find(work.db, row.account_id) if row is not None else None
    return found if found is not None and found.is_local else None


async def apply_accept_follow(work: Work, known: Known, sender: Account, activity: IncomingAccept) -> None:
    """Whoever lets somebody in who does not ask any more, nor follows, is told so: or else they would go on sending."""
    asker = await _asker(work, sender, activity)
    if asker is None or await is_late(work, known, sender, activity.id):
        return
    if await elsewhere.answer_yes(work, sender, asker):
        return
    answered = activity.answered
    is_of_sender = isinstance(answered, IncomingFollow) and answered.object_id == sender.uri
    if is_of_sender and not await relationships.is_following(work.db, asker.id, sender.id):
        work.announce(GhostFollowFound(account_id=asker.id, target_id=sender.id))


async def apply_reject_follow(work: Work, known: Known, sender: Account, activity: IncomingReject) -> None:  # noqa: ARG001
    asker = await _asker(work, sender, activity)
    if asker is not None:
        await elsewhere.answer_no(work, sender, asker)


async def apply_undo_accept(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> None:
    accepted = activity.undone
    asker = await _asker(work, sender, accepted) if isinstance(accepted, IncomingAccept) else None
    was_there = asker is not None and await elsewhere.take_back_yes(work, sender, asker)
    await remember_end(work, known, sender, activity.object_id, was_there=was_there)


# Block


async def apply_block(work: Work, known: Known, sender: Account, activity: IncomingBlock) -> None:
    other = await _member(work, activity.object_id)
    if other is not None and not await is_late(work, known, sender, activity.id):
        await apart.block(work, sender, other.id, uri=activity.id)


async def apply_undo_block(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> None:
    undone = activity.undone
    other = await _member(work, undone.object_id) if isinstance(undone, IncomingBlock) else None
    was_there = other is not None and await apart.unblock(work, sender, other.id)
    await remember_end(work, known, sender, activity.object_id, was_there=was_there)


# Like


async def _own_post(work: Work, uri: str) -> Status | None:
    """Only what was posted here counts its favourites here."""
    found = await statuses.find_by_uri(work.db, uri)
    if found is None or found.deleted_at is not None:
        return None
    author = await accounts.find(work.db, found.account_id)
    return found if author is not None and author.is_local else None


async def apply_like(work: Work, known: Known, sender: Account, activity: IncomingLike) -> None:
    """Whoever reacts with an emoji likes it, too. What the sender may not see cannot be liked."""
    post = await _own_post(work, activity.object_id)
    if post is None:
        return
    if await is_late(work, known, sender, activity.id):
        return
    try:
        await marks.favourite(work, sender.id, post.id)
    except (NotFound, Forbidden):
        return


async def apply_undo_like(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> None:
    undone = activity.undone
    post = await _own_post(work, undone.object_id) if isinstance(undone, IncomingLike) else None
    was_there = post is not None and await store.is_favourite(work.db, sender.id, post.id)
    if post is not None and was_there:
        await marks.unfavourite(work, sender.id, post.id)
    await remember_end(work, known, sender, activity.object_id, was_there=was_there)


# Undo of something that is only named


async def apply_undo_called(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> bool:
    """Of a follow or a block, by what it is called. False where nothing is called so."""
    uri = activity.object_id
    if uri is None:
        return False
    follow = await relationships.follow_called(work.db, sender.id, uri)
    block = await relationships.block_called(work.db, sender.id, uri) if follow is None else None
    row = follow or block
    other = await accounts.find(work.db, row.target_id) if row is not None else None
    if other is None:
        return False
    if follow is not None:
        await elsewhere.unfollow(work, sender, other)
    else:
        await apart.unblock(work, sender, other.id)
    await remember_end(work, known, sender, uri, was_there=True)
    return True
