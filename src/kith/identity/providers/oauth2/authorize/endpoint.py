"""The authorization endpoint, a step at a time: who asks, who is there, may they, do they want to, the answer.

Between the steps the browser goes by the sign-in page and the application's flow, and comes back with the very same
request. Everything is looked at again each time; what was walked is proven by a word that only its end tells.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from sqlalchemy import select

from kith.base import languages
from kith.base.db import query
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, Rule, address_key
from kith.identity.executor.api import open_walk, session_cookie
from kith.identity.executor.choosing import CANCEL, find_default, leave
from kith.identity.executor.engine import Ended
from kith.identity.executor.telling import Failed
from kith.identity.flows.plan import Step, find_flow, slug_of, steps_of
from kith.identity.flows.stages import stages
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.access.checks import Entry, Refused, check
from kith.identity.providers.oauth2.authorize import approval, stored_requests
from kith.identity.providers.oauth2.authorize.attempt import Attempt, Decision, is_hinted, is_too_old
from kith.identity.providers.oauth2.authorize.authorization_request import (
    AuthorizationRequest,
    Parameters,
    Target,
    Unfit,
    find_target,
    read_authorization_request,
)
from kith.identity.providers.oauth2.authorize.responses import AskConsent, ErrorPage, Local, Outcome, refuse
from kith.identity.providers.oauth2.authorize.stored_requests import CANCELLED, MOMENT, PROOF
from kith.identity.providers.oauth2.claims.claims import scopes_asked
from kith.identity.providers.oauth2.claims.scope_mappings import granted_scopes
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.errors import OAuthError, invalid_scope
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.sessions import cookies
from kith.identity.sessions.tables import Session
from kith.identity.stages.turn import Challenge, Denied
from kith.identity.users import store as users
from kith.identity.users.tables import User

IDENTITY_PATH = "/application/o/authorize/"
SOCIAL_PATH = "/oauth/authorize"
CONSENT_STAGE = "default-provider-authorization-consent"
DENIED = "The resource owner or authorization server denied the request."
# A longer way back than this is kept here instead of being carried around.
MOST_CARRIED = 1500
HAND_IN = Rule("oauth.hand_in", most=120, seconds=300)

_consent_stage = query(
    select(stages.c.stage_uuid)
    .where(stages.c.kind == "consent")
    .order_by(stages.c.name != CONSENT_STAGE, stages.c.name)  # the shipped one first
    .limit(1),
    str,
)


async def authorize(exchange: Exchange, sent: Parameters, *, social: bool, decision: Decision = "") -> Outcome:
    """`decision` is what somebody answered to an app that asked for itself."""
    try:
        kept = await stored_requests.resolve(exchange, sent)
        target = await _target(exchange, kept, social=social)
    except Unfit as unfit:
        return ErrorPage(title=unfit.title, messages=[unfit.message], code="invalid_request")
    try:
        request = read_authorization_request(kept, target)
        attempt = Attempt(
            exchange=exchange, kept=kept, request=request, scopes=await _scopes(exchange, request),
            moment=sent.get(MOMENT), proof=sent.get(PROOF), decision=decision,
        )  # fmt: skip
        languages.suggest(exchange, request.language)
        return await (_cancel(attempt) if sent.get(CANCELLED) else _go(attempt))
    except OAuthError as error:
        return refuse(target, error)


async def _cancel(attempt: Attempt) -> Outcome:
    """Somebody left on the way, by the link that every page has: the client need not wait for them."""
    if attempt.kept.request is not None:
        async with attempt.exchange.work.aside() as work:
            await store.claim_request(work.db, attempt.kept.request.request_hash, work.now)
    raise OAuthError("access_denied", DENIED)


async def hand_in(exchange: Exchange, sent: Parameters) -> Outcome:
    """A request that came as a form from elsewhere, without our cookies: it is kept, and read again as a link."""
    if sent.get("request_uri").startswith(stored_requests.PREFIX):
        named = {name: sent.get(name) for name in ("client_id", "request_uri")}
        return Local(f"{IDENTITY_PATH}?{urlencode(named)}")
    try:
        target = await _target(exchange, sent, social=False)
    except Unfit as unfit:
        return ErrorPage(title=unfit.title, messages=[unfit.message], code="invalid_request")
    try:
        read_authorization_request(sent, target)
    except OAuthError as error:
        return refuse(target, error)
    exchange.find(Limiter).spend(HAND_IN, address_key(exchange.address))
    work = exchange.work
    key = await stored_requests.keep(work, target.client.client_id, sent.values, key=stored_requests.new_name())
    return Local(_named(target.client, key))


async def _target(exchange: Exchange, sent: Parameters, *, social: bool) -> Target:
    client = await clients.find(exchange.work, sent.get("client_id"))
    if client is not None and client.is_social != social:
        client = None
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


async def _go(attempt: Attempt) -> Outcome:
    exchange, request = attempt.exchange, attempt.request
    session = await cookies.find(exchange)
    user = await users.find_by_id(exchange.work.db, session.user_id) if session and session.user_id else None
    if session is None or user is None or not user.is_active:
        return await _sign_in(attempt, again=session is not None and session.user_id is not None)
    exchange.user_id = user.id
    is_proven = stored_requests.is_proven(attempt.kept, attempt.proof, user.id)
    is_acting = session.by_id is not None  # and is turned away below
    if (
        not is_proven
        and not is_acting
        and (is_too_old(attempt, session) or not await is_hinted(attempt, session, user))
    ):
        return await _sign_in(attempt, again=True)
    try:
        entry = Entry(
            scopes=attempt.scopes, grant_type="authorization_code" if "code" in request.words else "implicit",
            redirect_uri=request.target.redirect_uri, response_type=request.response_type,
            code_challenge=request.challenge, code_challenge_method=request.method, max_age=request.max_age,
        )  # fmt: skip
        await check(exchange.work, attempt.client, user, session, entry)
    except Refused as refused:
        return _turned_away(attempt, refused.messages, refused.code)
    if attempt.client.is_social:
        return await _ask_for_app(attempt, session, user)
    return await _pass_flow(attempt, session, user, is_proven=is_proven)


def _turned_away(attempt: Attempt, messages: list[str], refusal: str = "") -> Outcome:
    if attempt.is_silent:
        raise OAuthError("access_denied", DENIED)
    return ErrorPage(title="Not allowed", messages=messages, status=403, code="access_denied", refusal=refusal)


# Who is there


async def _sign_in(attempt: Attempt, *, again: bool) -> Outcome:
    if attempt.is_silent:
        raise OAuthError("login_required", "Nobody is signed in who could be asked.")
    exchange, request = attempt.exchange, attempt.request
    slug = await slug_of(exchange.work, attempt.client.authentication_flow)
    slug = slug or await find_default(exchange, "authentication")
    if slug is None:
        return ErrorPage(title="Not allowed", messages=["There is no way to sign in here."], status=403)
    asked = {"next": await _here(attempt, again=again), "login_hint": request.login_hint, "lang": request.language,
             "again": "true" if again else ""}  # fmt: skip
    asked = {name: value for name, value in asked.items() if value}
    walk = await open_walk(exchange, slug, asked)
    cancel = await _here(attempt, again=False, cancelled=True)
    begun = await walk.begin({"application": _application(attempt.client), CANCEL: cancel})
    if isinstance(begun, Denied):
        return _turned_away(attempt, [begun.message], begun.code)
    if begun is not None:
        return ErrorPage(title="Not allowed", messages=["You cannot sign in this way."], status=403)
    return Local(f"/flows/{slug}/?{urlencode(asked)}", session_cookie(exchange, walk))


async def _here(attempt: Attempt, *, again: bool, cancelled: bool = False) -> str:
    """The way back to this request. Whoever must sign in anew brings the moment at which that was said."""
    exchange, values = attempt.exchange, attempt.kept.values
    more = {MOMENT: stored_requests.sign_moment(exchange, values, exchange.work.now)} if again else {}
    if cancelled:
        more = {CANCELLED: "true"}
    path = SOCIAL_PATH if attempt.client.is_social else IDENTITY_PATH
    whole = f"{path}?{urlencode(values | more)}"
    if not attempt.kept.key and len(whole) <= MOST_CARRIED:
        return whole
    key = attempt.kept.key
    if not key:
        async with exchange.work.aside() as work:
            key = await stored_requests.keep(work, attempt.client.client_id, values, key=stored_requests.new_name())
    return _named(attempt.client, key, more)


def _named(client: Client, key: str, more: dict[str, str] | None = None) -> str:
    path = SOCIAL_PATH if client.is_social else IDENTITY_PATH
    named = {"client_id": client.client_id, "request_uri": f"{stored_requests.PREFIX}{key}"}
    return f"{path}?{urlencode(named | (more or {}))}"


def _application(client: Client) -> dict[str, Any]:
    application = client.application
    told = {"name": client.name, "client_id": client.client_id}
    if application is None:
        return told
    return told | {"pk": application.pbm_uuid, "slug": application.slug, "meta_launch_url": application.meta_launch_url}


# Apps of the social half ask on a page of ours


async def _ask_for_app(attempt: Attempt, session: Session, user: User) -> Outcome:
    if attempt.decision == "deny":
        raise OAuthError("access_denied", DENIED)
    client = attempt.client
    if attempt.decision != "allow" and (client.consent != "never" or "consent" in attempt.request.prompts):
        if attempt.is_silent:
            raise OAuthError("consent_required", "They have to be asked.")
        again = {"again": "true", "next": await _here(attempt, again=True)}
        return AskConsent(
            client=client, redirect_uri=attempt.request.target.redirect_uri, user=user,
            permissions=[one["name"] for one in await permissions(attempt.exchange.work, client, attempt.scopes)],
            fields=_hidden(attempt), switch=f"/flows/-/default/authentication/?{urlencode(again)}",
        )  # fmt: skip
    return await approval.answer(
        attempt.exchange, attempt.request, attempt.scopes, session, user, stored=attempt.kept.request
    )


def _hidden(attempt: Attempt) -> dict[str, str]:
    """The request once more, for the form that answers it."""
    fields = attempt.kept.values
    if attempt.kept.key:
        fields = {"client_id": attempt.client.client_id, "request_uri": f"{stored_requests.PREFIX}{attempt.kept.key}"}
    return fields | ({MOMENT: attempt.moment} if attempt.moment else {})


# Applications are entered by their flow


async def _pass_flow(attempt: Attempt, session: Session, user: User, *, is_proven: bool) -> Outcome:
    if not is_proven:
        outcome = await _walk(attempt, user)
        if outcome is not None:
            return outcome
    return await approval.answer(
        attempt.exchange, attempt.request, attempt.scopes, session, user, stored=attempt.kept.request
    )


async def _walk(attempt: Attempt, user: User) -> Outcome | None:
    """Lead them through the application's flow; None where there is nothing in it to show."""
    exchange, client = attempt.exchange, attempt.client
    slug = await slug_of(exchange.work, client.authorization_flow)
    if slug is None:
        return _turned_away(attempt, ["This application has no flow that leads into it."])
    key, proof = attempt.kept.key or stored_requests.new_name(), new_key()
    back = _named(client, key, {PROOF: proof})
    query = {"lang": attempt.request.language} if attempt.request.language else {}
    walk = await open_walk(exchange, slug, query)
    context = await _context(attempt, back) | {CANCEL: _named(client, key, {CANCELLED: "true"})}
    begun = await walk.begin(context, await _more_steps(attempt, slug))
    result = begun or await walk.go()
    match result:
        case Ended(to=to) if to == back and walk.held.key is None and not walk.signed_out:
            return None
        case Ended(to=to):
            await _await_proof(attempt, key, proof, user)
            return Local(to, session_cookie(exchange, walk))
        case Challenge(component=component):
            if attempt.is_silent:
                await leave(exchange, slug)
                error = "consent_required" if component == "consent" else "interaction_required"
                raise OAuthError(error, "They have to be asked.")
            await _await_proof(attempt, key, proof, user)
            to = f"/flows/{slug}/" + (f"?{urlencode(query)}" if query else "")
            return Local(to, session_cookie(exchange, walk))
        case Denied(message=message, code=refusal):
            return _turned_away(attempt, [message], refusal)
        case Failed(error=error, code=refusal):
            return ErrorPage(
                title="Something went wrong on our side", messages=[error], status=500, code="server_error",
                refusal=refusal,
            )  # fmt: skip


async def _await_proof(attempt: Attempt, key: str, proof: str, user: User) -> None:
    """From now on, whoever finished the flow can say so."""
    async with attempt.exchange.work.aside() as work:
        if attempt.kept.key:
            await store.prove_request(work.db, hash_key(key), hash_key(proof), user.id)
        else:
            client_id, values = attempt.client.client_id, attempt.kept.values
            await stored_requests.keep(work, client_id, values, key=key, proof=proof, user_id=user.id)


async def _context(attempt: Attempt, back: str) -> dict[str, Any]:
    """What the flow knows from the start. Where it ends is only told to whoever gets there."""
    client = attempt.client
    context: dict[str, Any] = {
        "application": _application(client),
        "is_sso": True,
        "redirect": back,
        "consent_permissions": await permissions(attempt.exchange.work, client, await _told_by(attempt)),
        "consent_ask": "consent" in attempt.request.prompts,
    }
    if client.app_id is not None:  # what is remembered is the application's, and this is not all of it
        context["consent_mode"] = "always_require"
    elif client.consent != "flow":
        context["consent_mode"] = {"always": "always_require"}.get(client.consent, client.consent)
    return context


async def _told_by(attempt: Attempt) -> list[str]:
    """The scopes, and those that the claims which are asked for by name come to."""
    named = (
        await scopes_asked(attempt.exchange.work, attempt.client, attempt.request.claims)
        if "openid" in attempt.scopes
        else []
    )
    return list(dict.fromkeys((*attempt.scopes, *named)))


async def _more_steps(attempt: Attempt, slug: str) -> list[Step]:
    """A page that asks, where one was asked for and the flow has none."""
    client = attempt.client
    if "consent" not in attempt.request.prompts and client.app_id is None:
        return []
    work = attempt.exchange.work
    flow = await find_flow(work, slug)
    if flow is None or any(step.kind == "consent" for step in await steps_of(work, flow.flow_uuid)):
        return []
    stage_uuid = await work.db.one(_consent_stage)
    if stage_uuid is None:
        raise OAuthError("interaction_required", "There is no way to ask for consent here.")
    return [Step("", stage_uuid, "consent", "", "all", again=False, at_plan=False, invalid_response_action="retry")]
