"""POST /providers/clients/{id}/take_over/: somebody who may register clients vouches for one from now on.

For clients of somebody who leaves, whose password is a new one, or who was locked: the client goes on, or goes on
again, with another registration access token. All of the old registrar's ways to change it end.
"""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients import registrars
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.providers.oauth2.registration.collection import RESOURCE
from kith.identity.providers.oauth2.registration.dynamic import MOST_CLIENTS, record, registration_uri
from kith.identity.providers.oauth2.tables import App, apps
from kith.identity.reauthentication import FIELD, require_current_password
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.api import refuse
from kith.identity.rest.body import read_object
from kith.identity.rest.fields import read_uuid
from kith.identity.users import store as users

TOO_MANY = f"Nobody can have registered more than {MOST_CLIENTS} clients."
_by_uuid = query(select(apps).where(apps.c.registration_uuid == bindparam("id", type_=UID())), App)


async def take_over(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """The new registration access token, which is never shown again."""
    work, known = exchange.work, read_uuid(id)
    app: App | None = None
    if known is not None:
        app = await work.db.one(_by_uuid, id=known)
    base = await clients.find_by_provider(work, app.provider_id) if app is not None and app.provider_id else None
    if app is None or base is None or not _may_see(caller, app):
        raise NotFound
    needed = registrars.right_to_register(base.kind)
    if not caller.may(needed):
        await refuse(exchange, caller, needed)
    sent: dict[str, Any] = await read_object(exchange)
    await require_current_password(work, caller, sent.get(FIELD))
    if app.registered_by != caller.id and await store.count_registered(work.db, caller.id) >= MOST_CLIENTS:
        raise Forbidden(TOO_MANY)
    token, user = new_key(), await users.get(work.db, caller.id)
    app = msgspec.structs.replace(
        app, registered_by=user.id, registration_hash=hash_key(token), registration_at=work.now, suspended_at=None
    )
    await store.vouch(work.db, app)
    await record(work, "model_updated", app, user)
    slug = base.application.slug if base.application is not None else ""
    uri = registration_uri(work, slug, app) if slug else ""
    return show({"registration_access_token": token, "registration_client_uri": uri})


def _may_see(caller: ApiCaller, app: App) -> bool:
    return app.registered_by == caller.id or caller.may(RESOURCE.permission("view"))


ACTIONS = (
    Action(
        method="POST",
        path=f"{RESOURCE.path}{{id}}/take_over/",
        name=f"{RESOURCE.operation}_take_over",
        handler=take_over,
        permission=None,
        body="CurrentPassword",
        answer="RegistrationToken",
        summary="Vouch for a client from now on, and get a new registration access token for it.",
    ),
)
