"""Apps introduce themselves here, and ask what the server knows of them."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler

from kith.base import vapid
from kith.base.edge import exchange_of
from kith.base.errors import Unauthenticated
from kith.base.keys import Keys
from kith.base.limits import Limiter, Rule, address_key
from kith.base.params import params
from kith.base.work import Work
from kith.identity import face as identity
from kith.social.apps.entities import (
    Application,
    CredentialApplication,
    render_application,
    render_credentials,
    render_personal,
)
from kith.social.guards import INVALID, Caller, Connection, any_token, anyone

REGISTRATIONS = Rule("apps", most=5, seconds=600)


class Draft(msgspec.Struct, kw_only=True):
    """`redirect_uris` and `scopes` come as one text or as a list, and may have blanks in either."""

    client_name: str | None = None
    redirect_uris: list[str] | None = None
    scopes: list[str] | None = None
    website: str | None = None


def not_too_many(connection: Connection, _handler: BaseRouteHandler) -> None:
    exchange = exchange_of(connection)
    exchange.spent = exchange.find(Limiter).spend(REGISTRATIONS, address_key(exchange.address))


@post("/api/v1/apps", status_code=200, guards=[anyone, not_too_many], dependencies={"draft": params(Draft)})
async def register_app(
    work: NamedDependency[Work], keys: NamedDependency[Keys], draft: NamedDependency[Draft]
) -> CredentialApplication:
    new = identity.NewApp(
        name=draft.client_name or "", redirect_uris=_words(draft.redirect_uris), scopes=_words(draft.scopes),
        website=(draft.website or "").strip(),
    )  # fmt: skip
    return render_credentials(await identity.register_app(work, new), vapid.public_key(keys.vapid))


def _words(parts: list[str] | None) -> list[str]:
    return list(dict.fromkeys(word for part in parts or () for word in part.split()))


@get("/api/v1/apps/verify_credentials", guards=[any_token])
async def verify_app(
    request: Request[Any, Any, Any], keys: NamedDependency[Keys], caller: NamedDependency[Caller]
) -> Application:
    key = vapid.public_key(keys.vapid)
    if caller.app_id is None and caller.provider_id is None:
        return render_personal(caller.scopes, key)
    client = await identity.find_client(exchange_of(request), caller.app_id, caller.provider_id)
    if client is None:
        raise Unauthenticated(INVALID)
    return render_application(client, caller.app_id or caller.provider_id or 0, caller.scopes, key)


routes = [register_app, verify_app]
