"""Who has bound, what they may see, and whether they still may."""

from __future__ import annotations

import time
from datetime import datetime

import msgspec

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.caller_authentication import SignInDoor
from kith.identity.ldap_server.store import TreeProvider
from kith.identity.program_sign_in import ProgramRefused, check_policies, sign_in
from kith.identity.rights import rights_of
from kith.identity.tokens import store as tokens
from kith.identity.tokens.service import hash_key
from kith.identity.users import store as users

__all__ = ["BoundPerson", "bind", "may_still_enter", "refreshed"]

RIGHT = "core.view_user"
POLICY_SECONDS = 2.0  # after which policies are asked again


class BoundPerson(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who has proved who they are, through the tree of one provider.

    They count as that as long as what they proved it with does: `app_password` is the hash of one, and otherwise it
    was the password that was set at `password_at`.
    """

    user_id: int
    username: str
    provider_id: int
    may_see_all: bool
    app_password: str
    password_at: datetime | None
    asked_at: float  # when policies were asked


async def bind(exchange: Exchange, provider: TreeProvider, username: str, password: str) -> BoundPerson:
    """`ProgramRefused` where they may not."""
    door = SignInDoor("providers.ldap", "ldap", takes_code=provider.mfa_support, is_shared=True, by_name=True)
    caller = await sign_in(exchange, provider, username, password, door)
    user = await users.get(exchange.work.db, caller.id)
    return BoundPerson(
        user_id=caller.id,
        username=caller.username,
        provider_id=provider.id,
        may_see_all=caller.may(RIGHT),
        app_password=hash_key(password) if caller.way == "app_password" else "",
        password_at=user.password_changed_at,
        asked_at=time.monotonic(),
    )


async def refreshed(work: Work, bound: BoundPerson) -> BoundPerson | None:
    """The same person as they are now; None where they may do nothing any more."""
    user = await users.find_by_id(work.db, bound.user_id)
    if user is None or not user.is_active or user.approved_at is None:
        return None
    if bound.app_password:
        if await tokens.find_live(work.db, bound.app_password, work.now) is None:
            return None
    elif user.password is None or user.password_changed_at != bound.password_at:
        return None
    rights = await rights_of(work.db, user.id, user.role)
    return msgspec.structs.replace(bound, username=user.username, may_see_all=rights is None or RIGHT in rights)


async def may_still_enter(exchange: Exchange, provider: TreeProvider, bound: BoundPerson) -> BoundPerson | None:
    """None where the application's policies say no by now."""
    try:
        await check_policies(exchange.work, provider, bound.user_id)
    except ProgramRefused:
        return None
    return msgspec.structs.replace(bound, asked_at=time.monotonic())
