"""Apps introduce themselves here, and ask what the server knows of them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from kith.base import vapid
from kith.base.errors import Unauthenticated
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.routing import FromRequest, ServerPart, get, post
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.apps.entities import (
    Application,
    CredentialApplication,
    render_application,
    render_credentials,
    render_personal,
)
from kith.social.guards import INVALID, TheCaller, any_token, anyone

REGISTRATIONS = LimitRule("apps", most=5, seconds=600)


class AppForm(msgspec.Struct, kw_only=True):
    """`redirect_uris` and `scopes` come as one text or as a list, and may have blanks in either."""

    client_name: str | None = None
    redirect_uris: list[str] | None = None
    scopes: list[str] | None = None
    website: str | None = None


async def not_too_many(exchange: Exchange) -> None:
    exchange.spent = exchange.find(Limiter).spend(REGISTRATIONS, address_key(exchange.address))


@post("/api/v1/apps", status=200, guards=[anyone, not_too_many])
async def register_app(
    work: Work, keys: Annotated[Keys, ServerPart(Keys)], draft: FromRequest[AppForm]
) -> CredentialApplication:
    new = identity.apps.NewApp(
        name=draft.client_name or "",
        redirect_uris=_words(draft.redirect_uris),
        scopes=_words(draft.scopes),
        website=(draft.website or "").strip(),
    )
    return render_credentials(await identity.apps.register(work, new), vapid.public_key(keys.vapid))


def _words(parts: list[str] | None) -> list[str]:
    return list(dict.fromkeys(word for part in parts or () for word in part.split()))


@get("/api/v1/apps/verify_credentials", guards=[any_token])
async def verify_app(exchange: Exchange, keys: Annotated[Keys, ServerPart(Keys)], caller: TheCaller) -> Application:
    key = vapid.public_key(keys.vapid)
    if caller.app_id is None and caller.provider_id is None:
        return render_personal(caller.scopes, key)
    client = await identity.find_client(exchange, caller.app_id, caller.provider_id)
    if client is None:
        raise Unauthenticated(INVALID)
    return render_application(client, caller.app_id or caller.provider_id or 0, caller.scopes, key)


routes = [register_app, verify_app]
