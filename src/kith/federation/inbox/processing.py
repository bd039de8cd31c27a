"""One activity that was received: whether its sender is still heard, and who does what it says."""

from __future__ import annotations

from collections.abc import Collection

from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.gate.service import Gate
from kith.federation.inbox.dispatch import dispatch
from kith.federation.inbox.forwarded import take_forwarded
from kith.federation.inbox.passing_on import pass_on
from kith.federation.inbox.tables import Received
from kith.federation.known import Known
from kith.federation.sync.receiving import compare
from kith.federation.vocabulary.incoming import parse_document, read_activity
from kith.federation.vocabulary.incoming.activities import ACTIVITY_TYPES
from kith.federation.vocabulary.incoming.activities.shapes import IncomingActivity, IncomingDelete, IncomingUpdate
from kith.federation.vocabulary.incoming.fields import read_actor_id, type_of
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status

__all__ = ["process"]


async def process(work: Work, row: Received, unreachable: Collection[str] = ()) -> None:
    """In the given work. Raises `Missing` for what has to be fetched first, `DocumentRefused` for nonsense."""
    await ended.take_turn(work.db, row.account_id)
    sender = await accounts.find(work.db, row.account_id)
    if sender is None or sender.deleted_at is not None:
        return
    document = parse_document(row.body.encode())
    gate = work.find(Gate)
    if not gate.hears(sender, type_of(document, ACTIVITY_TYPES) or "") or not await gate.admits(sender.domain, work):
        return
    known = Known(unreachable, delivered_to=row.delivered_to or None, signed_at=row.signed_at)
    if read_actor_id(document.get("actor")) != sender.uri:
        await take_forwarded(work, known, sender, document)
        return
    read = read_activity(document)
    before = await _before(work, sender, read)
    await dispatch(work, known, sender, read)
    await pass_on(work, before, row.body)
    if row.synchronization is not None:
        await compare(work, sender, row.synchronization)


async def _before(work: Work, sender: Account, activity: IncomingActivity) -> Status | None:
    """The sender's post as it is, where it is about to be changed or deleted."""
    if not isinstance(activity, IncomingUpdate | IncomingDelete):
        return None
    found = await statuses.find_by_uri(work.db, activity.object_id)
    return found if found is not None and found.account_id == sender.id else None
