"""Callers cannot change people who have more permissions than they have, nor administrators an owner."""

from __future__ import annotations

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.identity.caller import ADMINISTRATORS, ApiCaller
from kith.identity.groups import store as groups
from kith.identity.roles.store import permissions_of
from kith.identity.users import store as users

OWNER = "owner"


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
    if not await permissions_of(work.db, user_id) <= caller.permissions:
        raise Forbidden(f"You may not {verb} somebody who may do more than you.")
