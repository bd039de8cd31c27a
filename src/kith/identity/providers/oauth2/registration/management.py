"""Reading, changing and deleting the registration of a client, with the token that it was given for that (RFC 7592).

A client cannot change more than whoever registered it still could: they may have lost the right, or be gone. With a
new password of theirs the token ends, as everything else that the old one may have been used for.
"""

from __future__ import annotations

import hmac
from typing import Any

import msgspec

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.consents import store as consents
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.authentication.carried_bearers import bearer_refusal, carried
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients import registrars
from kith.identity.providers.oauth2.clients.client import Client, hash_secret
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.providers.oauth2.logout import propagation
from kith.identity.providers.oauth2.registration.dynamic import check_registrar, record, shown, stored
from kith.identity.providers.oauth2.registration.metadata import (
    Registration,
    check_registration,
    read_registration,
    wrong_metadata,
)
from kith.identity.providers.oauth2.tables import App

CALLS = LimitRule("oauth-registration", most=300, seconds=3600)
CHANGES = LimitRule("oauth-registration-change", most=50, seconds=3600)
_OURS = (
    "registration_access_token",
    "registration_client_uri",
    "client_secret_expires_at",
    "client_id_issued_at",
)


async def answer_read(exchange: Exchange, slug: str, client_id: str) -> dict[str, Any]:
    app, _, token = await _find(exchange, slug, client_id)
    return await shown(exchange.work, slug, app, token=token)


async def answer_change(exchange: Exchange, slug: str, client_id: str) -> dict[str, Any]:
    """What is not sent is no longer registered.

    Whoever is another from now on is asked about anew, and what was given to whom it was before ends. What was sent may
    name a document that comes slowly: the token, and what is changed, are looked at again once nobody else changes it.
    """
    work = exchange.work
    app, base, token = await _find(exchange, slug, client_id)
    sent = await read_registration(exchange, forbidden=_OURS)
    _check_same(app, sent)
    exchange.spent = await exchange.find(Limiter).spend_strictly(CHANGES, app.client_id)
    registrar = await check_registrar(work, base, app.registered_by)
    checked = await check_registration(work, base, sent)
    await store.hold_app(work.db, app.id)
    before, base = await _managed(work, slug, client_id, token)
    _check_same(before, sent)
    if await registrars.is_suspended(work, before, base.kind):
        raise OAuthError("access_denied", "Whoever registered this client may not do so any more.", status=403)
    app = msgspec.structs.replace(before, **stored(checked))
    secret = None
    if not app.auth_method.startswith("client_secret"):
        app.secret_hash = None
    elif app.secret_hash is None:
        secret = new_key()
        app.secret_hash = hash_secret(secret)
    now, then = await clients.of_app(work, app), await clients.of_app(work, before)
    if now is None or then is None or now.identity != then.identity:
        await consents.forget_app(work.db, app.id)
        await propagation.end_client(work, app.client_id, app.id)  # tells whom it was before
    await store.update_app(work.db, app)
    await record(work, "model_updated", app, registrar)
    return await shown(work, slug, app, token=token, secret=secret)


async def answer_delete(exchange: Exchange, slug: str, client_id: str) -> None:
    """Everybody is signed out there, and what the client was given ends."""
    app, _, _ = await _find(exchange, slug, client_id)
    await end(exchange.work, app)


async def end(work: Work, app: App) -> None:
    await propagation.end_client(work, app.client_id, app.id)
    await store.delete_app(work.db, app.id)
    await record(work, "model_deleted", app, None)


async def _find(exchange: Exchange, slug: str, client_id: str) -> tuple[App, Client, str]:
    """An unknown client and a wrong token get the same answer."""
    work = exchange.work
    exchange.find(Limiter).spend(CALLS, address_key(exchange.address))
    token = carried(exchange, {})
    return *await _managed(work, slug, client_id, token), token


async def _managed(work: Work, slug: str, client_id: str, token: str) -> tuple[App, Client]:
    is_name = 0 < len(client_id) <= 255 and "\0" not in client_id
    app = await store.find_app(work.db, client_id) if is_name else None
    expected = app.registration_hash if app is not None and app.kind == "dynamic" else None
    base = await clients.find_by_slug(work, slug) if "\0" not in slug else None
    is_right = hmac.compare_digest(hash_key(token), expected or hash_key(""))
    if app is None or base is None or expected is None or not is_right or app.provider_id != base.provider_id:
        raise bearer_refusal("invalid_token", "The registration access token is not one of this client.", 401)
    if not await registrars.has_token(work, app):
        raise bearer_refusal("invalid_token", "The registration access token has ended with what it was made by.", 401)
    return app, base


def _check_same(app: App, sent: Registration) -> None:
    if sent.client_id != app.client_id:
        raise wrong_metadata("client_id must be sent, and cannot be changed.")
    if sent.client_secret and not hmac.compare_digest(hash_secret(sent.client_secret), app.secret_hash or ""):
        raise wrong_metadata("client_secret is not that of this client, and cannot be chosen.")
