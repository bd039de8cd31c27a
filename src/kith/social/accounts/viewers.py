"""Whose eyes a request looks through."""

from __future__ import annotations

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.social.accounts.faces import id_of, of_user
from kith.social.accounts.tables import Account
from kith.social.guards import DISABLED, Caller, Member


async def account_of(work: Work, me: Member) -> int:
    """The id of a member's account."""
    return await id_of(work, me.id)


async def account_of_caller(work: Work, caller: Caller) -> int | None:
    """None for anybody who looks without being somebody."""
    return None if caller.member is None else await id_of(work, caller.member.id)


async def acting(work: Work, me: Member) -> Account:
    """A member's account, to act with, if it still may at this moment."""
    account = await of_user(work, me.id)
    if not account.may_act:
        raise Forbidden(DISABLED)
    return account
