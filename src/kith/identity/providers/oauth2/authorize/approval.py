"""Answering an authorization request that was approved: the grant, and the code or tokens for it."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Exchange
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import model_of
from kith.identity.providers.oauth2.authorize.authorization_request import AuthorizationRequest
from kith.identity.providers.oauth2.authorize.responses import Outcome, deliver
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.grants.service import GrantRequest
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import AuthorizationRequestRow
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


async def answer(
    exchange: Exchange,
    request: AuthorizationRequest,
    scopes: list[str],
    session: LoginSession,
    user: User,
    *,
    stored: AuthorizationRequestRow | None,
) -> Outcome:
    """Code, tokens or both, depending on the response type. A request that was `stored` is answered once."""
    work, client, words = exchange.work, request.client, request.words
    asked = GrantRequest(
        scopes=scopes,
        user_id=user.id,
        session_uuid=session.session_uuid,
        auth_method=session.auth_method,
        auth_time=session.created_at,
        resource=request.resource,
        claims=request.claims,
    )
    grant = service.new_grant(work, client, asked)
    about: dict[str, Any] = {}
    if "id_token" in words:
        await keys.ready(work, client)
        about = await claims.user_claims(work, client, grant, scopes, for_id_token=True)
    if stored is not None and await store.claim_request(work.db, stored.request_hash, work.now) is None:
        raise OAuthError("invalid_request", "This request was answered already.")
    await store.insert_grant(work.db, grant)
    await visits.note(work, client, grant, user)
    told: dict[str, str] = {}
    if "code" in words:
        told["code"] = await service.issue_code(
            work,
            client,
            grant,
            redirect_uri=request.target.redirect_uri,
            nonce=request.nonce,
            challenge=request.challenge,
            method=request.method,
        )
    if "token" in words:
        issued = await service.issue(work, client, grant, scopes)
        told |= {"access_token": issued.access, "token_type": "Bearer", "scope": " ".join(scopes)}
        if issued.expires_in is not None:
            told["expires_in"] = str(issued.expires_in)
    if "id_token" in words:
        told["id_token"] = await claims.id_token(
            work,
            client,
            grant,
            scopes=scopes,
            nonce=request.nonce,
            access=told.get("access_token"),
            code=told.get("code"),
            about=about,
        )
    await audit.record(
        work,
        "authorize_application",
        "providers.oauth2",
        user_id=user.id,
        username=user.username,
        context={"authorized_application": model_of(client), "flow": client.authorization_flow, "scopes": scopes},
    )
    return deliver(request.target, told)
