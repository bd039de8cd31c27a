"""One activity that was received: whether its sender is still heard, and who does what it says."""

from __future__ import annotations

from collections.abc import Collection

from kith.base.work import Work
from kith.federation.gate.service import Gate
from kith.federation.inbox.dispatch import dispatch
from kith.federation.inbox.forwarded import take_forwarded
from kith.federation.inbox.tables import Received
from kith.federation.known import Known
from kith.federation.sync.receiving import compare
from kith.federation.vocabulary.incoming import parse_document, read_activity
from kith.federation.vocabulary.incoming.activities import ACTIVITY_TYPES
from kith.federation.vocabulary.incoming.fields import read_actor_id, type_of
from kith.social.accounts import store as accounts

__all__ = ["process"]


async def process(work: Work, row: Received, unreachable: Collection[str] = ()) -> None:
    """In the given work. Raises `Missing` for what has to be fetched first, `DocumentRefused` for nonsense."""
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
    await dispatch(work, known, sender, read_activity(document))
    if row.synchronization is not None:
        await compare(work, sender, row.synchronization)
