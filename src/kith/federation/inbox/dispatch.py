"""Who does what an activity says: one function for each kind, in the room that it is about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from kith.base.work import Work
from kith.federation.inbox import messages, relations, reports
from kith.federation.known import Known
from kith.federation.people import activities as people
from kith.federation.posts import activities as posts
from kith.federation.relays import service as relays
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAccept,
    IncomingActivity,
    IncomingAdd,
    IncomingAnnounce,
    IncomingBlock,
    IncomingCreate,
    IncomingDelete,
    IncomingFlag,
    IncomingFollow,
    IncomingLike,
    IncomingMessages,
    IncomingMove,
    IncomingQuoteRequest,
    IncomingReject,
    IncomingRemove,
    IncomingUndo,
    IncomingUpdate,
    IncomingVotes,
)
from kith.social.accounts.tables import Account

__all__ = ["dispatch"]

Apply = Callable[[Work, Known, Account, Any], Awaitable[None]]


async def _update(work: Work, known: Known, sender: Account, activity: IncomingUpdate) -> None:
    is_of_actor = activity.profile is not None or activity.object_id == activity.actor
    apply = people.apply_update_actor if is_of_actor else posts.apply_update_note
    await apply(work, known, sender, activity)


async def _delete(work: Work, known: Known, sender: Account, activity: IncomingDelete) -> None:
    apply = people.apply_delete_actor if activity.is_of_actor else posts.apply_delete_note
    await apply(work, known, sender, activity)


async def _accept(work: Work, known: Known, sender: Account, activity: IncomingAccept) -> None:
    """Where only an id is given, whoever has asked under that id takes the answer."""
    if not await _is_for_relays(work, sender, activity, accepted=True):
        if not isinstance(activity.answered, IncomingQuoteRequest):
            await relations.apply_accept_follow(work, known, sender, activity)
        if not isinstance(activity.answered, IncomingFollow):
            await posts.apply_accept_quote(work, known, sender, activity)


async def _reject(work: Work, known: Known, sender: Account, activity: IncomingReject) -> None:
    if not await _is_for_relays(work, sender, activity, accepted=False):
        if not isinstance(activity.answered, IncomingQuoteRequest):
            await relations.apply_reject_follow(work, known, sender, activity)
        if not isinstance(activity.answered, IncomingFollow):
            await posts.apply_reject_quote(work, known, sender, activity)


async def _is_for_relays(
    work: Work, sender: Account, activity: IncomingAccept | IncomingReject, *, accepted: bool
) -> bool:
    """Whether the server itself had asked, which is how relays are joined."""
    if activity.object_id is None or isinstance(activity.answered, IncomingQuoteRequest):
        return False
    return await relays.answer(work, sender, activity.object_id, accepted=accepted)


async def _undo(work: Work, known: Known, sender: Account, activity: IncomingUndo) -> None:
    """By what is undone; where that is only named, by whatever is called so."""
    if activity.undone is not None:
        await _UNDO[type(activity.undone)](work, known, sender, activity)
    elif not await relations.apply_undo_called(work, known, sender, activity):
        await posts.apply_undo_announce(work, known, sender, activity)


_UNDO: dict[type, Apply] = {
    IncomingAnnounce: posts.apply_undo_announce,
    IncomingFollow: relations.apply_undo_follow,
    IncomingLike: relations.apply_undo_like,
    IncomingBlock: relations.apply_undo_block,
    IncomingAccept: relations.apply_undo_accept,
}
_APPLY: dict[type, Apply] = {
    IncomingCreate: posts.apply_create,
    IncomingVotes: posts.apply_votes,
    IncomingMessages: messages.apply_messages,
    IncomingUpdate: _update,
    IncomingDelete: _delete,
    IncomingAnnounce: posts.apply_announce,
    IncomingLike: relations.apply_like,
    IncomingFollow: relations.apply_follow,
    IncomingBlock: relations.apply_block,
    IncomingQuoteRequest: posts.apply_quote_request,
    IncomingAccept: _accept,
    IncomingReject: _reject,
    IncomingUndo: _undo,
    IncomingFlag: reports.apply_flag,
    IncomingAdd: posts.apply_add,
    IncomingRemove: posts.apply_remove,
    IncomingMove: people.apply_move,
}


async def dispatch(work: Work, known: Known, sender: Account, activity: IncomingActivity) -> None:
    await _APPLY[type(activity)](work, known, sender, activity)
