from __future__ import annotations

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.suggestions import store


async def remove(work: Work, me: AccountId, account_id: AccountId) -> None:
    """Remembered, also for who was not suggested yet."""
    if await accounts.find(work.db, account_id) is not None:
        await store.remove(work.db, me, account_id, work.now)
