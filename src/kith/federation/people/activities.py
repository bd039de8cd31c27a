"""What people elsewhere say of themselves: that they have changed, moved or gone."""

from __future__ import annotations

from datetime import datetime, timedelta

from kith.base.clocks import is_recent
from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.known import Known, Missing
from kith.federation.people import store
from kith.federation.people.leaving import leave
from kith.federation.people.storing import store_actor
from kith.federation.people.tasks import refresh_later
from kith.federation.vocabulary.incoming import IncomingActor
from kith.federation.vocabulary.incoming.activities.shapes import IncomingDelete, IncomingMove, IncomingUpdate
from kith.social.accounts.tables import Account
from kith.social.moving.service import record_move

__all__ = ["apply_delete_actor", "apply_move", "apply_update_actor"]

BETWEEN_MOVES = timedelta(days=7)
SECOND = timedelta(seconds=1)


async def apply_update_actor(work: Work, known: Known, sender: Account, activity: IncomingUpdate) -> None:  # noqa: ARG001
    """What the document says counts at once; what only others can confirm is asked for later."""
    if activity.object_id != sender.uri or sender.is_local:
        return
    if activity.profile is None:
        refresh_later(work, sender)
        return
    now = await store_actor(work, activity.profile, is_proven=True)
    if await _needs_asking(work, now, activity.profile):
        refresh_later(work, now)


async def _needs_asking(work: Work, account: Account, told: IncomingActor) -> bool:
    """A new name, a key at an address, or a new home that nobody here knows."""
    claimed = told.handle
    named = (claimed.username, claimed.domain) if claimed is not None else (told.username, account.domain)
    if (account.username_key, account.domain) != (named[0].lower(), named[1]):
        return True
    if told.moved_to is not None and account.moved_to is None:
        return True
    kept = {one.id for one in await store.keys_of_account(work.db, account.id)}
    return any(uri not in kept for uri in told.keys.elsewhere)


async def apply_delete_actor(work: Work, known: Known, sender: Account, activity: IncomingDelete) -> None:  # noqa: ARG001
    if activity.is_of_actor and activity.actor == sender.uri and not sender.is_local and sender.deleted_at is None:
        await ended.remember(work.db, sender.uri, sender.uri, work.now)
        await leave(work, sender)


async def apply_move(work: Work, known: Known, sender: Account, activity: IncomingMove) -> None:
    """Believed once the new home names the old one, and at most once in a week."""
    actor = await store.find_actor(work.db, sender.id)
    if sender.is_local or activity.actor != sender.uri or actor is None:
        return
    if actor.moved_at is not None and is_recent(actor.moved_at, work.now, BETWEEN_MOVES):
        return
    target = await _new_home(work, known, sender, activity.target)
    if target is None:
        return
    await store.moved(work.db, sender.id, work.now)
    await record_move(work, sender, target)


async def _new_home(work: Work, known: Known, sender: Account, uri: str) -> Account | None:
    """None for one that does not name the mover. It is asked anew before that is believed."""
    target = await known.actor(work, uri)
    if target is None or target.is_gone or target.id == sender.id or target.moved_to is not None:
        return None
    if sender.uri in target.also_known_as:
        return target
    if not target.is_local and _is_older(target, known.signed_at) and not known.is_unreachable(uri):
        raise Missing("actor", uri)
    return None


def _is_older(target: Account, signed_at: datetime | None) -> bool:
    """Whether it was asked for before the move was told, so that it may name the mover by now. Dates are whole."""
    return signed_at is None or target.fetched_at is None or target.fetched_at < signed_at + SECOND
