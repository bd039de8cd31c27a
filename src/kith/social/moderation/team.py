"""Who of the team hears of something: those whose role lets them deal with it."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity import for_staff
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, UserId
from kith.social.roles import store as roles


class TeamAccount(msgspec.Struct, frozen=True):
    """`account_id` is None until they have an account."""

    user_id: UserId
    username: str
    email: str
    locale: str
    account_id: AccountId | None


async def who_may(work: Work, permission: str) -> list[TeamAccount]:
    """In three statements, however many they are."""
    team = await for_staff.find_team(work)
    own = {one.user_id: one for one in await accounts.find_of_users(work.db, [UserId(one.user_id) for one in team])}
    known = await roles.load(work.db)
    found: list[TeamAccount] = []
    for one in team:
        account = own.get(UserId(one.user_id))
        role = known.of(one.role, None if account is None else account.role_id)
        if role.allows(permission):
            known_as = None if account is None else account.id
            found.append(TeamAccount(UserId(one.user_id), one.username, one.email, one.locale, known_as))
    return found
