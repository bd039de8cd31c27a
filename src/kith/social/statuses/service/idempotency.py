"""Posting by a client that may send the same post twice: what it calls by one `Idempotency-Key` is posted once.

Everything that may have to ask elsewhere (who is mentioned) is prepared before the transaction begins; then it is
looked up again whether the other request was faster, and only then written.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kith.base.errors import Problem
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store
from kith.social.statuses.service import schedule as scheduling
from kith.social.statuses.service.post import StatusDraft, Unexpected, prepare, put

REMEMBERED = timedelta(hours=1)

Made = tuple[StatusId | None, int | None]  # the ids of the status or of the plan


class Posting(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be posted, when (None: now), through which application, and under which key of the client's."""

    draft: StatusDraft
    at: datetime | None
    application: dict[str, Any] | None
    app_id: int | None
    key: str


async def find(work: Work, author_id: AccountId, key: str) -> Made | None:
    """What came of the same key within the hour."""
    return await store.find_idempotent(work.db, author_id, _hashed(key), work.now - REMEMBERED) if key else None


async def create(work: Work, author: Account, posting: Posting) -> Made:
    try:
        ready = await prepare(work, author, posting.draft)
    except (Problem, Unexpected):
        known = await find(work, author.id, posting.key)  # its pictures may have gone to the one that was faster
        if known is None:
            raise
        return known
    if posting.key:
        await work.db.hold(f"idempotency:{author.id}:{_hashed(posting.key)}")
        known = await find(work, author.id, posting.key)
        if known is not None:
            return known
    if posting.at is None:
        status = await put(work, author, ready, posting.application)
        made: Made = (status.id, None)
    else:
        planned = await scheduling.put(
            work,
            author,
            posting.draft,
            ready,
            posting.at,
            application=posting.application,
            app_id=posting.app_id,
        )
        made = (None, planned.id)
    if posting.key:
        await store.remember(
            work.db,
            author.id,
            _hashed(posting.key),
            work.now,
            work.now - REMEMBERED,
            status_id=made[0],
            scheduled_id=made[1],
        )
    return made


def _hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
