"""The UserInfo endpoint."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Exchange
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.authentication.carried_bearers import bearer_refusal, find_bearer
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.claims.scope_mappings import within_allowed
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.keys import signing as keys


async def answer_userinfo(exchange: Exchange, sent: dict[str, str]) -> tuple[dict[str, Any] | str, Client]:
    """The claims; as a signed JWT for a client that registered that it wants one."""
    bearer, work = await find_bearer(exchange, sent), exchange.work
    scopes = split(bearer.scopes)
    client = await clients.find(work, bearer.client_id) if bearer.client_id else None
    if client is None or client.is_social or bearer.grant_uuid is None or bearer.user_id is None:
        raise bearer_refusal("insufficient_scope", "This needs the scope openid.", 403)
    if client.is_suspended:
        raise bearer_refusal("invalid_token", "The access token is unknown, expired or revoked.", 401)
    scopes = await within_allowed(work, client, scopes)
    if "openid" not in scopes:
        raise bearer_refusal("insufficient_scope", "This needs the scope openid.", 403)
    grant = await store.find_grant(work.db, bearer.grant_uuid)
    if grant is None:
        raise bearer_refusal("invalid_token", "The access token is unknown, expired or revoked.", 401)
    told = await claims.user_claims(work, client, grant, scopes, for_id_token=False)
    alg = client.registered.userinfo_signed_response_alg
    if not alg:
        return told, client
    signer = clients.signing_with(client, alg)
    await keys.ready(work, signer)
    about = told | {"iss": client.issuer(work.settings.base_url), "aud": client.client_id}
    return await keys.sign(work, signer, about), client
