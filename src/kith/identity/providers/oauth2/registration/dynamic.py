"""Dynamic client registration for an application (RFC 7591).

It needs a token with the scope `dcr` that somebody made for themselves, who may change the provider and may enter the
application. No client gets such a token: it could register others wherever its visitors may. What it answers has a
token of its own, with which the client's registration is read, changed and deleted (management.py).
"""

from __future__ import annotations

import uuid
from typing import Any

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import AccessDenied, AccessRequest, check_policies
from kith.identity.providers.oauth2.authentication.carried_bearers import bearer_refusal, find_bearer
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients import registered, registrars
from kith.identity.providers.oauth2.clients.client import Client, hash_secret
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.registration.metadata import (
    CheckedRegistration,
    check_registration,
    read_registration,
)
from kith.identity.providers.oauth2.tables import App
from kith.identity.users.able_people import find_able
from kith.identity.users.tables import User

SCOPE = "dcr"
MOST_CLIENTS = 1000  # that one person can have registered
REGISTERS = LimitRule("oauth-register", most=50, seconds=3600)


async def answer_register(exchange: Exchange, slug: str) -> dict[str, Any] | None:
    """The new client with its secret, which is never shown again; None if there is no application at `slug`."""
    work = exchange.work
    base = await clients.find_by_slug(work, slug)
    if base is None:
        return None
    bearer = await find_bearer(exchange, {})
    if SCOPE not in split(bearer.scopes) or bearer.user_id is None or bearer.client_id is not None:
        raise bearer_refusal("insufficient_scope", "This needs a token of your own with the scope dcr.", 403)
    sent = await read_registration(exchange)
    exchange.spent = await exchange.find(Limiter).spend_strictly(REGISTERS, str(bearer.user_id))
    registrar = await check_registrar(work, base, bearer.user_id)
    if await store.count_registered(work.db, registrar.id) >= MOST_CLIENTS:
        raise OAuthError("access_denied", f"Nobody can register more than {MOST_CLIENTS} clients.", status=403)
    checked = await check_registration(work, base, sent)
    await find_bearer(exchange, {})  # it, or the right, may have ended while documents of the client were fetched
    await _check_rights(work, base, registrar)
    app, secret, token = _new_app(work, base, checked, registrar)
    await store.insert_app(work.db, app)
    await record(work, "model_created", app, registrar)
    return await shown(work, slug, app, secret=secret, token=token)


async def check_registrar(work: Work, base: Client, user_id: int | None) -> User:
    """Whoever registers a client needs the right to change the provider, and must be let in by its policies."""
    user = await find_able(work, user_id) if user_id is not None else None
    if user is None:
        raise bearer_refusal("invalid_token", "This account may do nothing.", 401)
    await _check_rights(work, base, user)
    try:
        await check_policies(work, base, user, AccessRequest(scopes=[], grant_type="register"))
    except AccessDenied as refused:
        raise OAuthError("access_denied", str(refused), status=403, refusal=refused.code) from refused
    return user


async def _check_rights(work: Work, base: Client, user: User) -> None:
    if not await registrars.may_register(work, user, base.kind):
        needed = registrars.right_to_register(base.kind)
        async with work.aside() as aside:
            await audit.record(
                aside,
                "permission_denied",
                "providers.oauth2",
                user_id=user.id,
                username=user.username,
                context={"permission": needed, "client_id": base.client_id},
            )
        raise OAuthError("access_denied", f"This needs the right {needed}.", status=403)


def _new_app(work: Work, base: Client, checked: CheckedRegistration, by: User) -> tuple[App, str | None, str]:
    secret = new_key() if checked.auth_method.startswith("client_secret") else None
    token = new_key()
    app = App(
        id=work.new_id(),
        client_id=new_key(),
        secret_hash=hash_secret(secret) if secret else None,
        kind="dynamic",
        provider_id=base.provider_id,
        **stored(checked),
        trusted=False,
        created_at=work.now,
        registration_hash=hash_key(token),
        registered_by=by.id,
        registration_uuid=str(uuid.uuid4()),
        registration_at=work.now,
    )
    return app, secret, token


def stored(checked: CheckedRegistration) -> dict[str, Any]:
    """What of a client's row can be registered."""
    return {
        "name": checked.name,
        "website": checked.website,
        "redirect_uris": "\n".join(checked.redirect_uris),
        "scopes": " ".join(checked.scopes),
        "grant_types": " ".join(checked.grant_types),
        "auth_method": checked.auth_method,
        "jwks": checked.jwks,
        "metadata": registered.stored(checked.metadata),
    }


def registration_uri(work: Work, slug: str, app: App) -> str:
    """Where the client manages its registration."""
    return f"{work.settings.base_url}/application/o/{slug}/register/{app.client_id}/"


async def record(work: Work, action: str, app: App, by: User | None) -> None:
    model = {"app": "providers", "model_name": "app", "pk": str(app.id), "name": app.name}
    await audit.record(
        work,
        action,
        "providers.oauth2",
        user_id=by.id if by is not None else None,
        username=by.username if by is not None else "",
        context={"model": model, "scopes": app.scopes, "redirect_uris": app.redirect_uris.split()},
    )


async def shown(work: Work, slug: str, app: App, *, token: str, secret: str | None = None) -> dict[str, Any]:
    """The client as it is registered. Secrets are shown once; the token is the caller's own."""
    client = await clients.of_app(work, app)
    told: dict[str, Any] = {
        "client_id": app.client_id,
        "client_id_issued_at": int(app.created_at.timestamp()),
        "registration_client_uri": registration_uri(work, slug, app),
        "registration_access_token": token,
        "redirect_uris": app.redirect_uris.split(),
        "grant_types": app.grant_types.split(),
        "response_types": sorted(client.response_types) if client is not None else [],
        "token_endpoint_auth_method": app.auth_method,
        "client_name": app.name,
        "scope": app.scopes,
    }
    if secret is not None:
        told |= {"client_secret": secret, "client_secret_expires_at": 0}
    if app.website:
        told["client_uri"] = app.website
    if app.jwks:
        told["jwks"] = app.jwks
    if client is not None:
        told["id_token_signed_response_alg"] = await keys.alg_of(work, client)
    return told | registered.told(registered.read(app.metadata))
