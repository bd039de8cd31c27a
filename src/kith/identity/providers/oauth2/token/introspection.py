"""Token introspection (RFC 7662) and revocation (RFC 7009)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access import policies
from kith.identity.providers.oauth2.access.checks import AccessRequest, context_of
from kith.identity.providers.oauth2.authentication.clients import client_of, confidential_client_of
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.claims.scope_mappings import within_allowed
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import missing
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.tables import Grant
from kith.identity.users import store as users
from kith.identity.users.able_people import may_act

INACTIVE: dict[str, Any] = {"active": False}


async def answer_introspect(exchange: Exchange, sent: dict[str, str]) -> dict[str, Any]:
    """RFC 7662. Clients that the token is not for are told that it is not active."""
    client, work = await confidential_client_of(exchange, sent), exchange.work
    if "token" not in sent:
        raise missing("token")
    token = await store.find_token(work.db, service.hash_key(sent["token"]))
    grant = await store.find_grant(work.db, token.grant_uuid) if token is not None else None
    if token is None or grant is None or token.used_at is not None:
        return INACTIVE
    if client.client_id != grant.client_id and not await _may_be_told(work, client, grant):
        return INACTIVE
    if token.expires_at is not None and token.expires_at <= work.now:
        return INACTIVE
    holder = await clients.find(work, grant.client_id)
    if holder is None or holder.is_suspended:
        return INACTIVE
    scopes = split(token.scopes)
    if not holder.is_social:
        scopes = await within_allowed(work, holder, scopes)
    about = await _about(work, holder, grant.user_id, scopes)
    if about is None:
        return INACTIVE
    told = {
        "active": True,
        "scope": " ".join(scopes),
        "client_id": grant.client_id,
        "token_type": "Bearer" if token.kind == "access" else "refresh_token",
        "exp": int(token.expires_at.timestamp()) if token.expires_at is not None else None,
        "iat": int(token.created_at.timestamp()),
        "nbf": int(token.created_at.timestamp()),
        "aud": [grant.client_id, *grant.resource.split()] if grant.resource else grant.client_id,
        **about,
    }
    return {name: value for name, value in told.items() if value is not None}


async def _may_be_told(work: Work, client: Client, grant: Grant) -> bool:
    """Whether the token is for this client as well, and its policies let the person in: others have named it."""
    if client.client_id not in grant.resource.split():
        return False
    if grant.user_id is None:
        return True
    address = await visits.last_seen(work, grant.user_id, grant.client_id)
    request = AccessRequest(scopes=split(grant.scopes), grant_type="introspection")
    verdict, _ = await policies.ask(work, client, grant.user_id, context_of(client, request), address=address)
    return verdict.passing


async def _about(work: Work, client: Client, user_id: int | None, scopes: Collection[str]) -> dict[str, Any] | None:
    """The user of a token; None if they may not act any more.

    Their name is for whom the profile was allowed, and never for clients with pairwise subjects.
    """
    told: dict[str, Any] = {"iss": client.issuer(work.settings.base_url)}
    if user_id is None:
        return told | {"sub": client.client_id}
    user = await users.find_by_id(work.db, user_id)
    if user is None or not may_act(work, user):
        return None
    told["sub"] = claims.subject(work, client, user)
    if "profile" in scopes and not client.registered.sector:
        told["username"] = user.username
    return told


async def answer_revoke(exchange: Exchange, sent: dict[str, str]) -> bool:
    """RFC 7009. False if the token belongs to another client."""
    client = await client_of(exchange, sent)
    if "token" not in sent:
        raise missing("token")
    return await service.revoke(exchange.work, client, sent["token"])
