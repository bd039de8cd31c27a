"""POST /core/users/{id}/recovery/: a link for somebody who cannot get in any more."""

from __future__ import annotations

from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.reauthentication import refuse_app_password
from kith.identity.recovery import offer
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.api import refuse
from kith.identity.users import store as users
from kith.identity.users.privileges import refuse_if_above

PERMISSION = "core.reset_user_password"
MINUTES = 60


async def offer_link(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """It signs in without password and second factor, so it is for superusers, who could remove both."""
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    if not caller.may(PERMISSION):
        await refuse(exchange, caller, PERMISSION)
    if caller.permissions is not None:
        raise Forbidden("Only a superuser may make a link that signs in without a password.")
    refuse_app_password(caller)
    work = exchange.work
    user = await users.get(work.db, int(id))
    await refuse_if_above(work, caller, user.id, "recover")
    return show({"link": await offer(work, user, minutes=MINUTES, by=caller.id, by_name=caller.username)})


ACTIONS = (
    Action(
        method="POST",
        path="/core/users/{id}/recovery/",
        name="core_users_recovery",
        handler=offer_link,
        permission=None,
        answer="RecoveryLink",
        summary="Make a link that signs a person in once, within an hour.",
    ),
)
