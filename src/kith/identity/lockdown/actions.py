"""POST /core/users/{id}/lockdown/."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.lockdown import service
from kith.identity.lockdown.service import Lockdown
from kith.identity.reauthentication import FIELD, refuse_app_password, require_current_password
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.api import refuse
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import Boolean, Field, InvalidValue, Text
from kith.identity.users import store as users
from kith.identity.users.privileges import refuse_if_above

PERMISSION = "core.lockdown_user"
_FIELDS: tuple[Field, ...] = (
    Text(name="reason", required=True, most=service.MOST_REASON),
    Boolean(name="remove_factors", default=False),
    Boolean(name="notify", default=True),
)


async def lock_user(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """For oneself after reauthentication, for others with the permission."""
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    user_id = int(id)
    if user_id != caller.id and not caller.may(PERMISSION):
        await refuse(exchange, caller, PERMISSION)
    sent = await read_object(exchange)
    wanted = read_lockdown(sent)
    work = exchange.work
    user = await users.get(work.db, user_id)
    await refuse_if_above(work, caller, user_id, "lock")
    if user_id == caller.id:
        await require_current_password(work, caller, sent.get(FIELD))
    refuse_app_password(caller)
    ended = await service.lock(work, user, wanted, by=caller.id, by_name=caller.username)
    return show(msgspec.to_builtins(ended))


def read_lockdown(sent: dict[str, Any]) -> Lockdown:
    values: dict[str, Any] = {}
    complaints: dict[str, list[str]] = {}
    for field in _FIELDS:
        try:
            if field.name in sent:
                values[field.name] = field.read(sent[field.name])
            elif field.required:
                complaints[field.name] = [Complaint("This field is required.", "required")]
        except InvalidValue as error:
            complaints[field.name] = [error.complaint]
    if complaints:
        raise Invalid(fields=complaints)
    return Lockdown(**values)


ACTIONS = (
    Action(
        method="POST",
        path="/core/users/{id}/lockdown/",
        name="core_users_lockdown",
        handler=lock_user,
        permission=None,
        body="Lockdown",
        answer="LockdownCounts",
        summary="End everything of a person at once: for when somebody else may have the account.",
    ),
)
