"""Answering an authorization request that was approved: the grant, and the code or tokens for it."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import model_of
from kith.identity.providers.oauth2.authorize.authorization_request import AuthorizationRequest
from kith.identity.providers.oauth2.authorize.responses import Outcome, deliver
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants import service, visits
from kith.identity.providers.oauth2.grants.service import GrantRequest
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import AuthorizationRequestRow, Grant
from kith.identity.sessions import service as sessions
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


async def answer(
    exchange: Exchange,
    request: AuthorizationRequest,
    scopes: list[str],
    session: LoginSession,
    user: User,
    *,
    consent_scopes: list[str],
    stored: AuthorizationRequestRow | None,
) -> Outcome:
    """Code, tokens or both, depending on the response type. A request that was `stored` is answered once.

    `consent_scopes` are the scopes, and those of claims that were asked for by name: what the consent page shows.
    """
    work, client = exchange.work, request.client
    grant = service.new_grant(work, client, _grant_request(request, scopes, consent_scopes, session, user))
    about = await _claims_about(work, request, grant, scopes)
    if not await sessions.hold(work, session):
        raise OAuthError("login_required", "Their session has ended.")
    if stored is not None and await store.claim_request(work.db, stored.request_hash, work.now) is None:
        raise OAuthError("invalid_request", "This request was answered already.")
    if client.app_id is not None and not await clients.is_still(work, client.client_id, client.identity):
        raise OAuthError("invalid_request", "The client has changed meanwhile.")
    await store.insert_grant(work.db, grant)
    await visits.note(work, client, grant, user)
    issued = await _issue(work, request, grant, scopes, about)
    await _record(work, client, scopes, user)
    return deliver(request.target, issued)


def _grant_request(
    request: AuthorizationRequest, scopes: list[str], consent_scopes: list[str], session: LoginSession, user: User
) -> GrantRequest:
    return GrantRequest(
        scopes=scopes,
        user_id=user.id,
        session_uuid=session.session_uuid,
        auth_method=session.auth_method,
        auth_time=session.created_at,
        resource=request.resource,
        claims=claims.kept_with_grant(request.client, request.claims, session.session_uuid, scopes=consent_scopes),
    )


async def _claims_about(work: Work, request: AuthorizationRequest, grant: Grant, scopes: list[str]) -> dict[str, Any]:
    """What an ID token will say of the user: found out, and its key made ready, before anything is written."""
    if "id_token" not in request.words:
        return {}
    await keys.ready(work, request.client)
    return await claims.user_claims(work, request.client, grant, scopes, for_id_token=True)


async def _issue(
    work: Work, request: AuthorizationRequest, grant: Grant, scopes: list[str], about: dict[str, Any]
) -> dict[str, str]:
    """Each thing that the response type names. The ID token comes last, as it carries hashes of the others."""
    told: dict[str, str] = {}
    if "code" in request.words:
        told["code"] = await _issue_code(work, request, grant)
    if "token" in request.words:
        told |= await _issue_token(work, request.client, grant, scopes)
    if "id_token" in request.words:
        told["id_token"] = await claims.id_token(
            work,
            request.client,
            grant,
            scopes=scopes,
            nonce=request.nonce,
            access=told.get("access_token"),
            code=told.get("code"),
            about=about,
        )
    return told


async def _issue_code(work: Work, request: AuthorizationRequest, grant: Grant) -> str:
    return await service.issue_code(
        work,
        request.client,
        grant,
        redirect_uri=request.target.redirect_uri,
        nonce=request.nonce,
        challenge=request.challenge,
        method=request.method,
    )


async def _issue_token(work: Work, client: Client, grant: Grant, scopes: list[str]) -> dict[str, str]:
    issued = await service.issue(work, client, grant, scopes)
    told = {"access_token": issued.access, "token_type": "Bearer", "scope": " ".join(scopes)}
    if issued.expires_in is not None:
        told["expires_in"] = str(issued.expires_in)
    return told


async def _record(work: Work, client: Client, scopes: list[str], user: User) -> None:
    await audit.record(
        work,
        "authorize_application",
        "providers.oauth2",
        user_id=user.id,
        username=user.username,
        context={"authorized_application": model_of(client), "flow": client.authorization_flow, "scopes": scopes},
    )
