"""Somebody elsewhere has begun anew under the same name: whoever follows them here asks again."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.relationships.service import moving

__all__ = ["REFOLLOW", "Refollow"]


class Refollow(msgspec.Struct):
    account_id: AccountId
    after: int = 0


async def refollow(work: Work, payload: Refollow) -> None:
    await work.db.begin()
    account = await accounts.find(work.db, payload.account_id)
    if account is None or account.is_gone:
        return
    after = await moving.refollow(work, account, payload.after)
    if after is not None:
        work.enqueue(REFOLLOW, Refollow(account_id=account.id, after=after), key=f"{account.id}:{after}")


REFOLLOW: JobKind[Refollow] = JobKind(
    name="federation_people.refollow", payload=Refollow, handler=refollow, is_harmless=True
)
