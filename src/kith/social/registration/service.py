"""What is done for somebody who has just come in."""

from __future__ import annotations

from kith.base.errors import Problem
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, UserId
from kith.social.registration import mails
from kith.social.relationships.service.follow import Options, follow


async def find_newcomer(work: Work, account_id: AccountId) -> tuple[Account, UserId] | None:
    """Somebody who signed up by themselves and is still here."""
    account = await accounts.find(work.db, account_id)
    if account is None or account.user_id is None or account.is_gone:
        return None
    if await identity.find_signup(work, account.user_id) is None:
        return None
    return account, account.user_id


async def follow_inviter(work: Work, account: Account, user_id: UserId) -> None:
    """Where the invitation says so. A locked account is asked; where following is not possible, nothing happens."""
    signup = await identity.find_signup(work, user_id)
    if signup is None or not signup.autofollow or signup.invited_by is None:
        return
    host = await accounts.find_of_user(work.db, UserId(signup.invited_by))
    if host is None or host.is_gone or host.id == account.id:
        return
    try:
        await follow(work, account, host.id, Options())
    except Problem:
        return


async def welcome(work: Work, account: Account, user_id: UserId) -> None:
    signup = await identity.find_signup(work, user_id)
    locale = await identity.find_locale(work, user_id) or (signup.locale if signup is not None else "")
    mails.welcome(work, await identity.find_address(work, user_id), locale, account)
