"""Who has bound, and what they may see."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.caller_authentication import SignInDoor
from kith.identity.ldap_server.store import TreeProvider
from kith.identity.program_sign_in import sign_in
from kith.identity.rights import rights_of
from kith.identity.users import store as users

__all__ = ["BoundPerson", "bind", "refreshed"]

RIGHT = "core.view_user"


class BoundPerson(msgspec.Struct, frozen=True):
    """Somebody who has proved who they are, through the tree of one provider."""

    user_id: int
    username: str
    provider_id: int
    may_see_all: bool


async def bind(exchange: Exchange, provider: TreeProvider, username: str, password: str) -> BoundPerson:
    """`ProgramRefused` where they may not."""
    door = SignInDoor("providers.ldap", "ldap", takes_code=provider.mfa_support)
    caller = await sign_in(exchange, provider, username, password, door)
    return BoundPerson(caller.id, caller.username, provider.id, caller.may(RIGHT))


async def refreshed(work: Work, bound: BoundPerson) -> BoundPerson | None:
    """The same person as they are now; None where they may do nothing any more."""
    login = await users.find_login_by_id(work.db, bound.user_id)
    if login is None or not login.is_active:
        return None
    rights = await rights_of(work.db, login.id, login.role)
    return msgspec.structs.replace(bound, may_see_all=rights is None or RIGHT in rights)
