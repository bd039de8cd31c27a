"""UserInfo, and what a client may learn of its tokens or do away with."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.authentication import bearers, resource_owners
from kith.identity.providers.oauth2.authentication.clients import client_of, confidential_client_of
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError, invalid_request, missing
from kith.identity.providers.oauth2.grants import service
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.users import store as users

_REALM = 'Bearer realm="Kith"'


def bearer_refusal(error: str, description: str, status: int) -> OAuthError:
    told = f'{_REALM}, error="{error}", error_description="{description}"'
    return OAuthError(error, description, status=status, headers={"WWW-Authenticate": told})


def carried(exchange: Exchange, sent: dict[str, str]) -> str:
    """The token of a request, from its header or its form; never from the query."""
    scheme, _, rest = exchange.header(b"authorization").partition(b" ")
    by_header = rest.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""
    by_form = sent.get("access_token", "")
    if by_header and by_form:
        raise invalid_request("The access token is given in two ways.")
    if not by_header and not by_form:
        raise OAuthError("invalid_request", "No access token was given.", status=401,
                         headers={"WWW-Authenticate": _REALM})  # fmt: skip
    return by_header or by_form


async def find_bearer(exchange: Exchange, sent: dict[str, str]) -> Bearer:
    """Who comes with a token that is good at this moment."""
    work = exchange.work
    bearer = await bearers.find(work, carried(exchange, sent))
    if bearer is None or (bearer.expires_at is not None and bearer.expires_at <= work.now):
        raise bearer_refusal("invalid_token", "The access token is unknown, expired or revoked.", 401)
    if bearer.user_id is not None and await resource_owners.find_able(work, bearer.user_id) is None:
        raise bearer_refusal("invalid_token", "Its owner may not do anything here.", 401)
    exchange.user_id = bearer.user_id
    await bearers.note_use(work, bearer)
    return bearer


async def answer_userinfo(exchange: Exchange, sent: dict[str, str]) -> tuple[dict[str, Any], Client]:
    bearer, work = await find_bearer(exchange, sent), exchange.work
    scopes = split(bearer.scopes)
    client = await clients.find(work, bearer.client_id) if bearer.client_id else None
    if client is None or client.is_social or bearer.grant_uuid is None or bearer.user_id is None:
        raise bearer_refusal("insufficient_scope", "This needs the scope openid.", 403)
    if "openid" not in scopes:
        raise bearer_refusal("insufficient_scope", "This needs the scope openid.", 403)
    grant = await store.find_grant(work.db, bearer.grant_uuid)
    if grant is None:
        raise bearer_refusal("invalid_token", "The access token is unknown, expired or revoked.", 401)
    return await claims.user_claims(work, client, grant, scopes, for_id_token=False), client


INACTIVE: dict[str, Any] = {"active": False}


async def answer_introspect(exchange: Exchange, sent: dict[str, str]) -> dict[str, Any]:
    """RFC 7662: what a token is worth, to the client it was made for. All others learn that it is nothing."""
    client, work = await confidential_client_of(exchange, sent), exchange.work
    if "token" not in sent:
        raise missing("token")
    token = await store.find_token(work.db, service.hash_key(sent["token"]))
    grant = await store.find_grant(work.db, token.grant_uuid) if token is not None else None
    if token is None or grant is None or token.used_at is not None:
        return INACTIVE
    if client.client_id != grant.client_id and client.client_id not in grant.resource.split():
        return INACTIVE
    if token.expires_at is not None and token.expires_at <= work.now:
        return INACTIVE
    about = await _about(work, grant.client_id, grant.user_id)
    if about is None:
        return INACTIVE
    told = {
        "active": True,
        "scope": token.scopes,
        "client_id": grant.client_id,
        "token_type": "Bearer" if token.kind == "access" else "refresh_token",
        "exp": int(token.expires_at.timestamp()) if token.expires_at is not None else None,
        "iat": int(token.created_at.timestamp()),
        "nbf": int(token.created_at.timestamp()),
        "aud": [grant.client_id, *grant.resource.split()] if grant.resource else grant.client_id,
        **about,
    }
    return {name: value for name, value in told.items() if value is not None}


async def _about(work: Work, client_id: str, user_id: int | None) -> dict[str, Any] | None:
    """Who it speaks for; None when it speaks for nobody who may still act."""
    client = await clients.find(work, client_id)
    if client is None:
        return None
    told: dict[str, Any] = {"iss": client.issuer(work.settings.base_url)}
    if user_id is None:
        return told | {"sub": client_id}
    user = await users.find_by_id(work.db, user_id)
    if user is None or not resource_owners.may_act(work, user):
        return None
    return told | {"sub": claims.subject(work, client, user), "username": user.username}


async def answer_revoke(exchange: Exchange, sent: dict[str, str]) -> bool:
    """RFC 7009. True unless the token is somebody else's, of which nothing is told at the identity door."""
    client = await client_of(exchange, sent)
    if "token" not in sent:
        raise missing("token")
    return await service.revoke(exchange.work, client, sent["token"])
