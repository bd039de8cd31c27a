"""Changing one's profile, and letting in those who asked once nobody needs to ask any more."""

from __future__ import annotations

from kith.base.work import Work
from kith.social.accounts import service as accounts
from kith.social.accounts import store
from kith.social.accounts.tables import Account
from kith.social.relationships.service import follow
from kith.social.relationships.tasks import LET_IN, LetIn


async def update(work: Work, account: Account, change: accounts.AccountChange) -> Account:
    """Whoever unlocks their account says yes to all who asked, but to those the team has limited."""
    changed = await accounts.update(work, account, change)
    if not account.locked or changed.locked:
        return changed
    if await follow.authorize_all(work, changed.id):
        work.enqueue(LET_IN, LetIn(account_id=changed.id), key=str(changed.id))
    return await store.find(work.db, changed.id) or changed
