"""Accounts that the team suggests to everybody."""

from __future__ import annotations

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.staff import Staff, record
from kith.social.suggestions import store

MOST_PICKS = 100


async def pick(work: Work, by: Staff, account_id: AccountId) -> Account:
    account = await _standing(work, account_id)
    await work.db.hold("staff picks")
    if len(await store.picked(work.db)) >= MOST_PICKS:
        raise Invalid(fields={"": [Complaint("The maximum number of suggested accounts is reached", "too_many")]})
    if await store.pick(work.db, account.id, work.now):
        await record(work, by, "pick_account", account)
    return account


async def unpick(work: Work, by: Staff, account_id: AccountId) -> None:
    account = await accounts.find(work.db, account_id)
    if account is None or not await store.unpick(work.db, account_id):
        raise NotFound
    await record(work, by, "unpick_account", account)


async def _standing(work: Work, account_id: AccountId) -> Account:
    found = await accounts.find(work.db, account_id)
    if found is None or not found.is_listed or found.is_gone:
        raise NotFound
    return found
