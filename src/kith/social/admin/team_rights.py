"""Tells the identity half what somebody may do here, so that nobody there becomes them who may do less."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.ids import UserId
from kith.social.roles import store as roles
from kith.social.roles.permissions import names_of


class RoleRights:
    """Implements `TeamRights` by roles, the freely defined ones too."""

    async def rights_of(self, work: Work, user_id: int) -> frozenset[str]:
        known, person = await roles.load(work.db), await identity.find_person(work, user_id)
        if person is None:
            return frozenset(names_of(known.everyone.all_permissions))
        account = await accounts.find_of_user(work.db, UserId(user_id))
        role = known.of(person.role, None if account is None else account.role_id)
        return frozenset(names_of(role.all_permissions))
