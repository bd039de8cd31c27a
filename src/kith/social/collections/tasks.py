from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.collections import store
from kith.social.relationships.facts import Blocked


async def part(work: Work, fact: Blocked) -> None:
    """A block takes each of the two out of the other's collections, at once."""
    await store.part(work.db, fact.account_id, fact.target_id)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.forget_account(work.db, fact.account_id)


FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="collections.forget_account", payload=AccountDeleted, handler=forget_account
)
