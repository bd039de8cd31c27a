"""Marking a post's media as sensitive in somebody's stead, as an edit that its history shows."""

from __future__ import annotations

from kith.base.work import Work
from kith.social.statuses import store
from kith.social.statuses.facts import StatusEdited
from kith.social.statuses.service.edit import edited_at
from kith.social.statuses.service.revisions import begin_history, keep_revision, snapshot
from kith.social.statuses.tables import Status


async def set_sensitive(work: Work, status: Status, *, sensitive: bool) -> bool:
    """False where it was so already."""
    if status.sensitive == sensitive:
        return False
    before = await snapshot(work, status)
    await work.db.begin()
    await begin_history(work, before)
    await store.change(work.db, status.id, {"sensitive": sensitive, "edited_at": edited_at(work, status)})
    now = await store.find(work.db, status.id)
    if now is not None:
        await keep_revision(work, now, await snapshot(work, now, at_edit=True))
    work.announce(StatusEdited(status_id=status.id, account_id=status.account_id, new_mentions=()))
    return True
