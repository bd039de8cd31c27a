"""Whose account a request acts or looks with, as parameters of routes."""

from __future__ import annotations

from typing import Annotated

from kith.base.errors import Forbidden
from kith.base.exchange import Exchange
from kith.base.routing import Provided
from kith.social.accounts.tables import Account
from kith.social.accounts.user_accounts import id_of, of_user
from kith.social.guards import DISABLED, caller_in, member_in
from kith.social.ids import AccountId


async def my_account_id(exchange: Exchange) -> AccountId:
    return await id_of(exchange.work, member_in(exchange).id)


async def viewer_id(exchange: Exchange) -> AccountId | None:
    """None for anybody who looks without being somebody."""
    member = caller_in(exchange).member
    return None if member is None else await id_of(exchange.work, member.id)


async def my_account(exchange: Exchange) -> Account:
    """A member's account, to act with, if it still may at this moment."""
    account: Account | None = exchange.kept.get(Account)  # read by the guard, a moment ago
    if account is None:
        account = await of_user(exchange.work, member_in(exchange).id)
    if not account.may_act:
        raise Forbidden(DISABLED)
    return account


Me = Annotated[AccountId, Provided(my_account_id)]
Viewer = Annotated[AccountId | None, Provided(viewer_id)]
Actor = Annotated[Account, Provided(my_account)]
