"""Actions beside /core/users/: one's own record, and setting a password."""

from __future__ import annotations

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.reauthentication import FIELD, refuse_app_password, require_current_password
from kith.identity.rest import Action
from kith.identity.rest.answers import NOTHING, show
from kith.identity.rest.api import refuse
from kith.identity.rest.body import read_object
from kith.identity.rest.operations import read
from kith.identity.rest.record import as_dict
from kith.identity.rest.record_store import RecordStore
from kith.identity.sessions import cookies
from kith.identity.sessions.service import end_after_password, renew_key
from kith.identity.users import service, store
from kith.identity.users.collection import RESOURCE, tell_new_password
from kith.identity.users.passwords import Passwords
from kith.identity.users.privileges import refuse_if_above

_records = RecordStore(RESOURCE)


async def show_me(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    record = await read(_records, exchange.work, caller.id, sees_secrets=False)
    permissions = ["*"] if caller.permissions is None else sorted(caller.permissions)
    _records.write_moments([record])
    shown = as_dict(record) | {"system_permissions": permissions}
    return show({**shown, "user": shown})


async def set_password(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """For oneself, after reauthentication, or with a permission; a superuser's only by a superuser."""
    work = exchange.work
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    user_id = int(id)
    if user_id != caller.id and not caller.may("core.reset_user_password"):
        await refuse(exchange, caller, "core.reset_user_password")
    await refuse_if_above(work, caller, user_id, "change")
    sent = await read_object(exchange)
    password = sent.get("password")
    if not isinstance(password, str):
        raise Invalid(password="This field is required." if password is None else "Not a valid string.")
    user = await store.get(work.db, user_id)
    if user_id == caller.id:
        await require_current_password(work, caller, sent.get(FIELD))
    refuse_app_password(caller)
    await service.set_password(work, work.find(Passwords), user, password, by=caller.id, by_name=caller.username)
    await end_after_password(work, user_id)
    session = await cookies.find(exchange)
    if session is not None and session.user_id == user_id:
        renewed = cookies.cookie(await renew_key(work, session), secure=work.settings.base_url.startswith("https"))
        exchange.cookies += [] if renewed is None else [renewed[1]]
    await tell_new_password(work, caller, user_id)
    return NOTHING


ACTIONS = (
    Action(
        method="GET",
        path="/core/users/me/",
        name="core_users_me",
        handler=show_me,
        permission=None,
        answer="User",
        summary="The caller's own record.",
    ),
    Action(
        method="POST",
        path="/core/users/{id}/set_password/",
        name="core_users_set_password",
        handler=set_password,
        permission=None,
        status=204,
        body="PasswordSet",
        summary="Give a person a new password.",
    ),
)
