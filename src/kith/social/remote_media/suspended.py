"""Files of somebody elsewhere whom the team has suspended: what was fetched goes, and comes back if they do."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.moderation.facts import AccountSuspended
from kith.social.remote_media import store
from kith.social.remote_media.budget import dropped

__all__ = ["DROP"]

BATCH = 200


async def drop(work: Work, fact: AccountSuspended) -> None:
    await work.db.begin()
    account = await accounts.find(work.db, fact.account_id)
    if account is None or account.is_local or account.suspended_at is None:
        return
    ids = await store.fetched_of(work.db, account.id, BATCH)
    dropped(work, await store.drop_attachments(work.db, ids), [], "rejected")
    if len(ids) == BATCH:
        work.enqueue(DROP, fact)


DROP: JobKind[AccountSuspended] = JobKind(name="media.suspended", payload=AccountSuspended, handler=drop)
