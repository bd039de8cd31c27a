"""Dynamic client registration for an application (RFC 7591).

It needs a token with the scope `dcr` that somebody made for themselves, who may change the provider and may enter the
application. No client gets such a token: it could register others wherever its visitors may.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.exchange import Exchange
from kith.base.key_sizes import is_moderate_jwk
from kith.base.limits import Limiter, LimitRule
from kith.base.params import parse_json
from kith.base.unicode import normal_form
from kith.base.work import Work
from kith.identity import jose
from kith.identity.applications.tables import applications
from kith.identity.audit import service as audit
from kith.identity.providers.family import providers
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import AccessDenied, AccessRequest, check_policies
from kith.identity.providers.oauth2.authentication.carried_bearers import bearer_refusal, find_bearer
from kith.identity.providers.oauth2.authentication.resource_owners import find_able
from kith.identity.providers.oauth2.claims.scope_mappings import allowed_scopes
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client, hash_secret
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants.service import new_key
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.providers.oauth2.tables import App
from kith.identity.providers.redirect_uris import complain_redirect
from kith.identity.rights import rights_of

SCOPE = "dcr"
MOST_BYTES = 16 * 1024
MOST_KEYS = 10
MOST_URIS, MOST_IN_URI, MOST_IN_NAME = 10, 2000, 100
METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt", "none")
REGISTERS = LimitRule("oauth-register", most=50, seconds=3600)
_names = query(select(applications.c.name), str)
_kind = query(select(providers.c.kind).where(providers.c.id == bindparam("provider")), str)


class Metadata(msgspec.Struct, kw_only=True):
    """The parts of a registration that are read; others are ignored, as RFC 7591 allows."""

    redirect_uris: list[str]
    token_endpoint_auth_method: str = "client_secret_basic"  # noqa: S105 - the name of a way
    grant_types: tuple[str, ...] = ("authorization_code",)
    response_types: tuple[str, ...] = ("code",)
    client_name: str = ""
    client_uri: str = ""
    scope: str = ""
    jwks: dict[str, Any] = {}
    jwks_uri: str = ""


async def answer_register(exchange: Exchange, slug: str) -> dict[str, Any] | None:
    """The new client with its secret, which is never shown again; None if there is no application at `slug`."""
    work = exchange.work
    base = await clients.find_by_slug(work, slug)
    if base is None:
        return None
    bearer = await find_bearer(exchange, {})
    if SCOPE not in split(bearer.scopes) or bearer.user_id is None or bearer.client_id is not None:
        raise bearer_refusal("insufficient_scope", "This needs a token of your own with the scope dcr.", 403)
    sent = await _read(exchange)
    exchange.spent = await exchange.find(Limiter).spend_strictly(REGISTERS, str(bearer.user_id))
    await _check_rights(work, base, bearer)
    await _check_policies(work, base, bearer.user_id)
    await _check(work, sent)
    app, secret = await _app(work, base, sent)
    await store.insert_app(work.db, app)
    model = {"app": "providers", "model_name": "app", "pk": str(app.id), "name": app.name}
    await audit.record(
        work,
        "model_created",
        "providers.oauth2",
        user_id=bearer.user_id,
        username=bearer.username or "",
        context={"model": model, "scopes": app.scopes, "redirect_uris": app.redirect_uris.split()},
    )
    return _shown(app, secret, sent)


async def _check_rights(work: Work, base: Client, bearer: Bearer) -> None:
    """Registering a client needs the right to change the provider."""
    kind = await work.db.one(_kind, provider=base.provider_id) or ""
    needed = f"providers.change_{kind}provider"
    rights = await rights_of(work.db, bearer.user_id or 0, bearer.role or "")
    if rights is not None and needed not in rights:
        async with work.aside() as aside:
            await audit.record(
                aside,
                "permission_denied",
                "providers.oauth2",
                user_id=bearer.user_id,
                username=bearer.username or "",
                context={"permission": needed, "client_id": base.client_id},
            )
        raise OAuthError("access_denied", f"This needs the right {needed}.", status=403)


async def _check_policies(work: Work, base: Client, user_id: int) -> None:
    user = await find_able(work, user_id)
    if user is None:
        raise bearer_refusal("invalid_token", "This account may do nothing.", 401)
    try:
        await check_policies(work, base, user, AccessRequest(scopes=[], grant_type="register"))
    except AccessDenied as refused:
        raise OAuthError("access_denied", str(refused), status=403, refusal=refused.code) from refused


async def _read(exchange: Exchange) -> Metadata:
    kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise OAuthError("invalid_client_metadata", "The body must be a JSON object.", status=415)
    raw = parse_json(await exchange.body(MOST_BYTES))
    if "redirect_uris" not in raw:
        raise _wrong_uri("redirect_uris is required.")
    try:
        return msgspec.convert(raw, Metadata)
    except msgspec.ValidationError as error:
        wrong = _wrong_uri if "redirect_uris" in str(error) else _wrong
        raise wrong(f"{error}.") from error


async def _check(work: Work, sent: Metadata) -> None:
    if not 1 <= len(sent.redirect_uris) <= MOST_URIS:
        raise _wrong_uri(f"Between 1 and {MOST_URIS} redirect URIs are needed.")
    for uri in sent.redirect_uris:
        words = complain_redirect(uri) if len(uri) <= MOST_IN_URI else "A redirect URI is too long."
        if words is not None:
            raise _wrong_uri(words)
    if sent.token_endpoint_auth_method not in METHODS:
        raise _wrong("This token_endpoint_auth_method is not supported.")
    if sent.jwks_uri:
        raise _wrong("Keys are registered by jwks; jwks_uri is not supported.")
    if sent.token_endpoint_auth_method == "private_key_jwt" or sent.jwks:  # noqa: S105 - the name of a way
        _check_keys(sent.jwks)
    if sent.client_uri and (complain_redirect(sent.client_uri) or not sent.client_uri.startswith("http")):
        raise _wrong("client_uri must be an https address.")
    await _check_name(work, sent.client_name)


def _check_keys(jwks: dict[str, Any]) -> None:
    sent = jwks.get("keys")
    if not isinstance(sent, list) or len(sent) > MOST_KEYS or not all(isinstance(one, dict) for one in sent):
        raise _wrong(f"jwks must hold between 1 and {MOST_KEYS} keys.")
    if not all(is_moderate_jwk(one) for one in sent):
        raise _wrong("jwks holds a key that is too large.")
    try:
        known = jose.KeySet.import_key_set(jwks).keys  # type: ignore[arg-type]
    except (jose.JoseError, ValueError, TypeError, KeyError) as error:
        raise _wrong("jwks holds no usable key.") from error
    if not known or any(isinstance(one, jose.OctKey) or one.is_private for one in known):
        raise _wrong("jwks must hold public keys only.")


async def _check_name(work: Work, name: str) -> None:
    """The consent page shows the name, so it must not be empty or taken."""
    if len(name) > MOST_IN_NAME or any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co") for letter in name):
        raise _wrong(f"client_name must have at most {MOST_IN_NAME} printable characters.")
    taken = {_plain(work.settings.title), *(_plain(one) for one in await work.db.all(_names))}
    if name and _plain(name) in taken:
        raise _wrong("This client_name is the name of something else here.")


def _plain(name: str) -> str:
    return re.sub(r"\W+", "", normal_form("NFKC", name).casefold())


async def _app(work: Work, base: Client, sent: Metadata) -> tuple[App, str | None]:
    allowed = await allowed_scopes(work, base)
    asked = split(sent.scope)
    if any(scope not in allowed for scope in asked):
        raise _wrong("A scope is not known here.")
    grant_types = [one for one in dict.fromkeys(sent.grant_types) if one in base.grant_types]
    if not grant_types:
        raise _wrong("None of these grant types can be used here.")
    if any(" ".join(sorted(one.split())) not in base.response_types for one in sent.response_types):
        raise _wrong("A response type cannot be used here.")
    method = sent.token_endpoint_auth_method
    secret = new_key() if method.startswith("client_secret") else None
    app = App(
        id=work.new_id(),
        client_id=new_key(),
        secret_hash=hash_secret(secret) if secret else None,
        kind="dynamic",
        provider_id=base.provider_id,
        name=sent.client_name or "Unnamed client",
        website=sent.client_uri or None,
        redirect_uris="\n".join(sent.redirect_uris),
        scopes=" ".join(asked or allowed),
        grant_types=" ".join(grant_types),
        auth_method=method,
        jwks=sent.jwks,
        trusted=False,
        created_at=work.now,
    )
    return app, secret


def _shown(app: App, secret: str | None, sent: Metadata) -> dict[str, Any]:
    told: dict[str, Any] = {
        "client_id": app.client_id,
        "client_id_issued_at": int(app.created_at.timestamp()),
        "redirect_uris": app.redirect_uris.split(),
        "grant_types": app.grant_types.split(),
        "response_types": list(sent.response_types),
        "token_endpoint_auth_method": app.auth_method,
        "client_name": app.name,
        "scope": app.scopes,
    }
    if secret is not None:
        told |= {"client_secret": secret, "client_secret_expires_at": 0}
    if app.website:
        told["client_uri"] = app.website
    return told | {"jwks": app.jwks} if app.jwks else told


def _wrong(words: str) -> OAuthError:
    return OAuthError("invalid_client_metadata", words[:300])


def _wrong_uri(words: str) -> OAuthError:
    return OAuthError("invalid_redirect_uri", words[:300])
