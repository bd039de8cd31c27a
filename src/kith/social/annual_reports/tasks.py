from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.annual_reports import store


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.forget_account(work.db, fact.account_id)


FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="annual_reports.forget_account", payload=AccountDeleted, handler=forget_account
)
