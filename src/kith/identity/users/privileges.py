"""Callers cannot change people who may do more than they, in either half, nor administrators an owner."""

from __future__ import annotations

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.caller import ADMINISTRATORS, ApiCaller
from kith.identity.group_grants import grants_of_person
from kith.identity.groups import store as groups
from kith.identity.rights import rights_of
from kith.identity.team_rights import TeamRights
from kith.identity.users import address_ownership
from kith.identity.users import store as users

OWNER = "owner"
MORE = "You may not {verb} somebody who may do more than you."


async def _is_owner(work: Work, user_id: int) -> bool:
    login = await users.find_login_by_id(work.db, user_id)
    return login is not None and login.role == OWNER


async def is_mighty(work: Work, user_id: int) -> bool:
    login = await users.find_login_by_id(work.db, user_id)
    return login is not None and (login.role in ADMINISTRATORS or await groups.is_mighty(work.db, user_id))


async def refuse_if_above(work: Work, caller: ApiCaller, user_id: int, verb: str) -> None:
    """Raise if the person stands higher: whoever sets their password or makes a token could act as them."""
    if user_id == caller.id:
        return
    if caller.role != OWNER and await _is_owner(work, user_id):
        raise Forbidden(f"Only an owner may {verb} an owner.")
    if caller.permissions is None:
        return
    if await is_mighty(work, user_id):
        raise Forbidden(f"Only a superuser may {verb} a superuser.")
    if (await grants_of_person(work.db, user_id)).exceeds(caller.permissions):
        raise Forbidden(MORE.format(verb=verb))
    rights = work.find(TeamRights)  # type: ignore[type-abstract]
    if not await rights.rights_of(work, user_id) <= await rights.rights_of(work, caller.id):
        raise Forbidden(MORE.format(verb=verb))


async def find_caller(work: Work, user_id: int) -> ApiCaller | None:
    """Somebody with what they may do now, to compare others with; None for whoever is gone or disabled."""
    login = await users.find_login_by_id(work.db, user_id)
    if login is None or not login.is_active:
        return None
    held = await rights_of(work.db, login.id, login.role)
    return ApiCaller(login.id, login.username, login.role, permissions=held)


async def may_give_address(work: Work, caller: ApiCaller, address: str, user_id: int) -> bool:
    """Whether the caller's word is enough to make an address the person's confirmed one; 0 is a person who is new.

    It is not where the address is another's, nor where somebody who may do more than the caller would lose it, though
    they have not confirmed it yet.
    """
    if await address_ownership.belongs_to_another(work, address, user_id):
        return False
    loser = await address_ownership.find_loser(work, address, user_id)
    return loser is None or not await is_above(work, caller, loser)


async def is_above(work: Work, caller: ApiCaller, user_id: int) -> bool:
    """Whether the person may do more than the caller."""
    try:
        await refuse_if_above(work, caller, user_id, "change")
    except Forbidden:
        return True
    return False
