"""Actions beside /core/users/: approving and rejecting people who wait for approval."""

from __future__ import annotations

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action
from kith.identity.rest.answers import NOTHING
from kith.identity.rest.api import refuse
from kith.identity.signups import service
from kith.identity.users import store
from kith.identity.users.collection import RESOURCE
from kith.identity.users.privileges import refuse_if_above
from kith.identity.users.tables import User
from kith.identity.users.team import TEAM


async def approve(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    user = await _waiting(exchange, caller, id, "change")
    await service.approve(exchange.work, user, by=caller.id, by_name=caller.username)
    return NOTHING


async def reject(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    user = await _waiting(exchange, caller, id, "delete")
    await service.reject(exchange.work, user, by=caller.id, by_name=caller.username)
    return NOTHING


async def _waiting(exchange: Exchange, caller: ApiCaller, id: str, verb: str) -> User:
    """The person; moderators may approve and reject, whatever permissions they have."""
    if caller.role not in TEAM and not caller.may(RESOURCE.permission(verb)):
        await refuse(exchange, caller, RESOURCE.permission(verb))
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    user = await store.get(exchange.work.db, int(id))
    await refuse_if_above(exchange.work, caller, user.id, "let in or turn down")
    return user


ACTIONS = (
    Action(
        method="POST",
        path="/core/users/{id}/approve/",
        name="core_users_approve",
        handler=approve,
        permission=None,
        status=204,
        summary="Let in somebody who waits for approval.",
    ),
    Action(
        method="POST",
        path="/core/users/{id}/reject/",
        name="core_users_reject",
        handler=reject,
        permission=None,
        status=204,
        summary="Turn down somebody who waits for approval; the account is deleted.",
    ),
)
