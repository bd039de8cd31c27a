"""Asking for an archive of one's own, and fetching it."""

from __future__ import annotations

from datetime import timedelta

from kith.base.clocks import is_recent
from kith.base.errors import Conflict, NotFound
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.archives import store
from kith.social.archives.tables import Archive
from kith.social.archives.tasks import MAKE, MakeArchive
from kith.social.ids import AccountId

__all__ = ["ask", "find_ready", "may_ask", "newest"]

AGAIN = timedelta(days=6)
GIVE_UP = timedelta(days=1)  # on one that was never finished


async def newest(work: Work, me: AccountId) -> Archive | None:
    """None when its time is over."""
    found = await store.newest(work.db, me)
    return None if found is None or found.expires_at <= work.now else found


def may_ask(work: Work, last: Archive | None) -> bool:
    return last is None or not is_recent(last.created_at, work.now, AGAIN)


async def ask(work: Work, actor: Account) -> Archive:
    """Made by a job; one in six days."""
    await work.db.hold(f"archives:{actor.id}")
    if not may_ask(work, await newest(work, actor.id)):
        raise Conflict("You have asked for an archive lately. You can ask again six days after that.")
    new = Archive(work.new_id(), actor.id, "making", "", 0, work.now, work.now + GIVE_UP)
    await store.insert(work.db, new)
    work.enqueue(MAKE, MakeArchive(archive_id=new.id), key=str(new.id))
    return new


async def find_ready(work: Work, me: AccountId, archive_id: int) -> Archive:
    found = await store.find(work.db, archive_id)
    if found is None or found.account_id != me or found.state != "ready" or found.expires_at <= work.now:
        raise NotFound
    return found
