"""The authorization endpoint, a step at a time: who asks, who is there, may they, do they want to, the answer.

Between the steps the browser goes by the sign-in page and the application's flow, and comes back with the very same
request. Everything is looked at again each time; what was run is proven by a word that only its end tells.
"""

from __future__ import annotations

from urllib.parse import urlencode

from msgspec.structs import replace

from kith.base import languages
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, address_key
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import AccessDenied, AccessRequest, check
from kith.identity.providers.oauth2.authorize import approval, stored_requests
from kith.identity.providers.oauth2.authorize.attempt import DENIED, Attempt, Decision, is_hinted, is_too_old, turn_away
from kith.identity.providers.oauth2.authorize.authorization_flow import application_facts, run_flow
from kith.identity.providers.oauth2.authorize.authorization_request import (
    AuthorizationRequest,
    Parameters,
    ResponseTarget,
    Unfit,
    find_target,
    read_authorization_request,
)
from kith.identity.providers.oauth2.authorize.request_objects import open_request
from kith.identity.providers.oauth2.authorize.responses import AskConsent, Outcome, refuse
from kith.identity.providers.oauth2.authorize.return_links import (
    HAND_IN,
    IDENTITY_PATH,
    carried,
    link_to_stored,
    way_back,
)
from kith.identity.providers.oauth2.authorize.stored_requests import CANCELLED, MOMENT, PROOF
from kith.identity.providers.oauth2.claims.claims import scopes_asked
from kith.identity.providers.oauth2.claims.scope_mappings import granted_scopes
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.errors import OAuthError, invalid_scope
from kith.identity.providers.sign_on.access import ENTRIES
from kith.identity.providers.sign_on.flow import sign_in
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.sessions import cookies
from kith.identity.sessions.tables import LoginSession
from kith.identity.stages.turn import Denied
from kith.identity.users import store as users
from kith.identity.users.tables import User


async def authorize(exchange: Exchange, sent: Parameters, *, social: bool, decision: Decision = "") -> Outcome:
    """`decision` is what the person answered to an app that asked for consent on a page of ours."""
    try:
        kept = await stored_requests.resolve(exchange, sent)
        client = await _client(exchange, kept, social=social)
        try:
            values = await open_request(exchange, client, kept)
        except OAuthError as error:
            return refuse(_target(exchange, kept, client), error)
        kept = kept if values is None else replace(kept, values=values, is_fixed=True)
        target = _target(exchange, kept, client)
    except Unfit as unfit:
        return ErrorPage(title=unfit.title, messages=[unfit.message], code="invalid_request")
    try:
        request = read_authorization_request(kept, target)
        scopes = await _scopes(exchange, request)
        attempt = Attempt(
            exchange=exchange,
            kept=kept,
            request=request,
            scopes=scopes,
            consent_scopes=await _consent_scopes(exchange, request, scopes),
            moment=sent.get(MOMENT),
            proof=sent.get(PROOF),
            decision=decision,
        )
        languages.suggest(exchange, request.language)
        return await (_cancel(attempt) if sent.get(CANCELLED) else _go(attempt))
    except OAuthError as error:
        return refuse(target, error)


async def _cancel(attempt: Attempt) -> Outcome:
    """The person cancelled: the client gets `access_denied`."""
    if attempt.kept.request is not None:
        async with attempt.exchange.work.aside() as work:
            await store.claim_request(work.db, attempt.kept.request.request_hash, work.now)
    raise OAuthError("access_denied", DENIED)


async def hand_in(exchange: Exchange, sent: Parameters) -> Outcome:
    """Store a request that was posted from another site, where our cookies are missing, and redirect to it."""
    if sent.get("request_uri").startswith(stored_requests.PREFIX):
        named = {name: sent.get(name) for name in ("client_id", "request_uri")}
        return Local(f"{IDENTITY_PATH}?{urlencode(named)}")
    try:
        client = await _client(exchange, sent, social=False)
        try:
            values = await open_request(exchange, client, sent)
        except OAuthError as error:
            return refuse(_target(exchange, sent, client), error)
        sent = sent if values is None else replace(sent, values=values)
        target = _target(exchange, sent, client)
    except Unfit as unfit:
        return ErrorPage(title=unfit.title, messages=[unfit.message], code="invalid_request")
    try:
        read_authorization_request(sent, target)
    except OAuthError as error:
        return refuse(target, error)
    exchange.find(Limiter).spend(HAND_IN, address_key(exchange.address))
    work = exchange.work
    key = await stored_requests.keep(work, target.client.client_id, sent.values, key=stored_requests.new_name())
    return Local(link_to_stored(target.client, key))


async def _client(exchange: Exchange, sent: Parameters, *, social: bool) -> Client | None:
    client = await clients.find(exchange.work, sent.get("client_id"))
    return None if client is not None and (client.is_social != social or client.is_suspended) else client


def _target(exchange: Exchange, sent: Parameters, client: Client | None) -> ResponseTarget:
    return find_target(sent, client, exchange.work.settings.base_url)


async def _scopes(exchange: Exchange, request: AuthorizationRequest) -> list[str]:
    """Without a code there is nothing that could be refreshed."""
    granted = await granted_scopes(exchange.work, request.client, request.scope)
    if granted is None:
        raise invalid_scope()
    if request.client.is_social:
        return granted
    scopes = granted if "code" in request.words else [scope for scope in granted if scope != "offline_access"]
    if request.response_type not in ("code", "token") and "openid" not in scopes:
        raise invalid_scope("The scope openid is needed for this response type.")
    return scopes


async def _consent_scopes(exchange: Exchange, request: AuthorizationRequest, scopes: list[str]) -> list[str]:
    """The scopes asked for, and those that are needed for claims asked for by name."""
    named = await scopes_asked(exchange.work, request.client, request.claims) if "openid" in scopes else []
    return list(dict.fromkeys((*scopes, *named)))


async def _go(attempt: Attempt) -> Outcome:
    exchange, request = attempt.exchange, attempt.request
    session = await cookies.find(exchange)
    user = await users.find_by_id(exchange.work.db, session.user_id) if session and session.user_id else None
    if session is None or user is None or not user.is_active:
        return await _sign_in(attempt, again=session is not None and session.user_id is not None)
    exchange.user_id = user.id
    exchange.find(Limiter).spend(ENTRIES, str(user.id))
    is_proven = stored_requests.is_proven(attempt.kept, attempt.proof_of_run(attempt.proof), user.id)
    is_acting = session.by_id is not None  # and is turned away below
    if (
        not is_proven
        and not is_acting
        and (is_too_old(attempt, session) or not await is_hinted(attempt, session, user))
    ):
        return await _sign_in(attempt, again=True)
    try:
        entry = AccessRequest(
            scopes=attempt.scopes,
            grant_type="authorization_code" if "code" in request.words else "implicit",
            redirect_uri=request.target.redirect_uri,
            response_type=request.response_type,
            code_challenge=request.challenge,
            code_challenge_method=request.method,
            max_age=request.max_age,
        )
        await check(exchange.work, attempt.client, user, session, entry)
    except AccessDenied as refused:
        return turn_away(attempt, refused.messages, refused.code)
    if attempt.client.is_social:
        return await _ask_for_app(attempt, session, user)
    return await _pass_flow(attempt, session, user, is_proven=is_proven)


# Signing in


async def _sign_in(attempt: Attempt, *, again: bool) -> Outcome:
    if attempt.is_silent:
        raise OAuthError("login_required", "Nobody is signed in who could be asked.")
    attempt = await carried(attempt)
    exchange, request = attempt.exchange, attempt.request
    asked = {
        "next": way_back(attempt, again=again),
        "login_hint": request.login_hint,
        "lang": request.language,
        "again": "true" if again else "",
    }
    cancel = way_back(attempt, again=False, cancelled=True)
    begun = await sign_in(
        exchange, attempt.client.authentication_flow, asked, application_facts(attempt.client), cancel
    )
    return turn_away(attempt, [begun.message], begun.code) if isinstance(begun, Denied) else begun


# Apps of the social half: the consent page


async def _ask_for_app(attempt: Attempt, session: LoginSession, user: User) -> Outcome:
    if attempt.decision == "deny":
        raise OAuthError("access_denied", DENIED)
    client = attempt.client
    if attempt.decision != "allow" and (client.consent != "never" or "consent" in attempt.request.prompts):
        if attempt.is_silent:
            raise OAuthError("consent_required", "They have to be asked.")
        attempt = await carried(attempt)
        again = {"again": "true", "next": way_back(attempt, again=True)}
        return AskConsent(
            client=client,
            redirect_uri=attempt.request.target.redirect_uri,
            user=user,
            permissions=[one["name"] for one in await permissions(attempt.exchange.work, client, attempt.scopes)],
            fields=_hidden(attempt),
            switch=f"/flows/-/default/authentication/?{urlencode(again)}",
        )
    return await _approve(attempt, session, user)


async def _approve(attempt: Attempt, session: LoginSession, user: User) -> Outcome:
    return await approval.answer(
        attempt.exchange,
        attempt.request,
        attempt.scopes,
        session,
        user,
        consent_scopes=attempt.consent_scopes,
        stored=attempt.kept.request,
    )


def _hidden(attempt: Attempt) -> dict[str, str]:
    """The request's parameters as hidden fields for the consent form."""
    fields = attempt.kept.values
    if attempt.kept.key:
        fields = {"client_id": attempt.client.client_id, "request_uri": f"{stored_requests.PREFIX}{attempt.kept.key}"}
    return fields | ({MOMENT: attempt.moment} if attempt.moment else {})


# Applications: the authorization flow


async def _pass_flow(attempt: Attempt, session: LoginSession, user: User, *, is_proven: bool) -> Outcome:
    if not is_proven:
        outcome = await run_flow(attempt, user)
        if outcome is not None:
            return outcome
    return await _approve(attempt, session, user)
