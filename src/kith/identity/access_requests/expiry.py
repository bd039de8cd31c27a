"""Requests that nobody decided about in time, and those whose access has ended."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.work import Work
from kith.identity.access_requests import mails, service, store
from kith.identity.users.service import UserBarred

KEPT = timedelta(days=365)  # after that the audit trail alone remembers


async def end_due(work: Work, most: int) -> int:
    unanswered = await store.unanswered(work.db, work.now, most)
    for request in unanswered:
        if await store.move(work.db, request.request_uuid, "open", "expired", work.now):
            offer, asker = await service.record_state(work, msgspec.structs.replace(request, state="expired"))
            await mails.tell_unanswered(work, offer.name, asker)
    over = await store.over(work.db, work.now, most)
    for request in over:
        if await store.move(work.db, request.request_uuid, "approved", "ended", work.now):
            offer, asker = await service.record_state(work, msgspec.structs.replace(request, state="ended"))
            await mails.tell_end(work, offer.name, asker)
    return max(len(unanswered), len(over))


async def close_of(work: Work, fact: UserBarred) -> None:
    """Whoever was disabled asks for nothing any more."""
    for request in await store.all_open_of(work.db, fact.user_id):
        if await store.move(work.db, request.request_uuid, "open", "expired", work.now):
            await service.record_state(work, msgspec.structs.replace(request, state="expired"))


async def forget_old(work: Work) -> None:
    await store.forget(work.db, work.now - KEPT)
