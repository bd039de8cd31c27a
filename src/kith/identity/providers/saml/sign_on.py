"""The single sign-on endpoint, a step at a time: what is asked, who is there, may they, the flow, the answer.

Between the steps the browser goes by the sign-in page and the application's flow, and comes back with the key of the
stored request. Everything is looked at again each time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.identity.executor.default_flows import leave
from kith.identity.flows.plan import slug_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.providers.saml import answers, failures, messages, name_ids
from kith.identity.providers.saml.access import check_access
from kith.identity.providers.saml.outcomes import Outcome
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.sign_on.access import ENTRIES, AccessDenied
from kith.identity.providers.sign_on.flow import FlowShown, run_authorization, sign_in
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.saml import store as kept
from kith.identity.saml import stored_requests
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.names import (
    AUTHN_FAILED,
    INVALID_NAME_ID_POLICY,
    NO_PASSIVE,
    REQUEST_DENIED,
    REQUESTER,
    RESPONDER,
)
from kith.identity.saml.protocol import AuthnRequest
from kith.identity.saml.stored_requests import CANCELLED, PROOF, REQUEST
from kith.identity.saml.tables import StoredRequest
from kith.identity.sessions import cookies
from kith.identity.sessions.tables import LoginSession
from kith.identity.stages.turn import Denied
from kith.identity.users import store as users
from kith.identity.users.tables import User

SIGN_ON = "sign_on"
HAND_IN = LimitRule("saml.hand_in", most=120, seconds=300)
_GONE = "This request has expired or was answered already. Please go back to the application and start again."
_SSO_PATHS = ("", "sso/binding/redirect/", "sso/binding/post/")


class SignOnAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A request to enter. `key` is its name if it is stored, else empty; `asked_at` is when it arrived."""

    exchange: Exchange
    service: ServiceProvider
    request: AuthnRequest
    asked_at: datetime
    key: str = ""
    stored: StoredRequest | None = None
    proof: str = ""

    def content(self) -> dict[str, Any]:
        return {"asked": msgspec.to_builtins(self.request), "at": self.asked_at.timestamp()}


async def by_query(exchange: Exchange, service: ServiceProvider) -> Outcome:
    """A request in the query, or the key of one that is stored."""
    key = exchange.query(REQUEST)
    if key:
        return await _resume(exchange, service, key)
    try:
        received = await messages.receive_query(exchange.work, service, exchange.query_string, "SAMLRequest")
        request = _read(service, received)
    except SAMLError as error:
        return await failures.refuse(exchange, service, error)
    return await _go(_new(exchange, service, request))


async def by_form(exchange: Exchange, service: ServiceProvider, form: dict[str, str]) -> Outcome:
    """A request that was posted from another site, where our cookies are missing: store it, and redirect to it."""
    try:
        received = await messages.receive_form(exchange.work, service, form, "SAMLRequest")
        request = _read(service, received)
    except SAMLError as error:
        return await failures.refuse(exchange, service, error)
    attempt = _new(exchange, service, request)
    return Local(_link(attempt, await _keep(attempt)))


async def by_us(exchange: Exchange, service: ServiceProvider) -> Outcome:
    """Nobody asked: the person opens the application from here."""
    request = AuthnRequest(relay_state=service.record.default_relay_state)
    return await _go(_new(exchange, service, request))


async def _resume(exchange: Exchange, service: ServiceProvider, key: str) -> Outcome:
    stored = await stored_requests.find(exchange.work, SIGN_ON, key)
    if stored is None or stored.provider_id != service.id:
        return ErrorPage(title="Request error", messages=[_GONE], code="invalid_request")
    attempt = SignOnAttempt(
        exchange=exchange,
        service=service,
        request=msgspec.convert(stored.content["asked"], AuthnRequest),
        asked_at=datetime.fromtimestamp(stored.content["at"], UTC),
        key=key,
        stored=stored,
        proof=exchange.query(PROOF),
    )
    if exchange.query(CANCELLED):
        async with exchange.work.aside() as work:
            await kept.claim_request(work.db, stored.request_hash, work.now)
        return await answers.refuse(attempt.exchange, service, attempt.request, RESPONDER, AUTHN_FAILED)
    return await _go(attempt)


def _new(exchange: Exchange, service: ServiceProvider, request: AuthnRequest) -> SignOnAttempt:
    return SignOnAttempt(exchange=exchange, service=service, request=request, asked_at=exchange.work.now)


def _read(service: ServiceProvider, received: messages.ReceivedMessage) -> AuthnRequest:
    from kith.identity.saml.authn_requests import read_authn_request  # noqa: PLC0415 - loaded when first used

    request = read_authn_request(received.root, received.relay_state)
    if request.acs_url and request.acs_url != service.record.acs_url:
        raise SAMLError("The request names another address for the answer than the one that is set up.")
    ours = {service.url(path) for path in _SSO_PATHS}
    if request.destination and f"{request.destination.rstrip('/')}/" not in ours:
        raise SAMLError("The request is meant for another address.")
    return request


async def _go(attempt: SignOnAttempt) -> Outcome:
    exchange, service, request = attempt.exchange, attempt.service, attempt.request
    try:
        name_ids.format_for(service, request.name_format)
    except name_ids.NoNameID as error:
        await failures.record(exchange, service, error.words)
        return await answers.refuse(exchange, service, request, REQUESTER, INVALID_NAME_ID_POLICY)
    session = await cookies.find(exchange)
    user = await users.find_by_id(exchange.work.db, session.user_id) if session and session.user_id else None
    if session is None or user is None or not user.is_active:
        return await _sign_in(attempt, again=session is not None and session.user_id is not None)
    exchange.user_id = user.id
    exchange.find(Limiter).spend(ENTRIES, str(user.id))
    is_proven = stored_requests.is_proven(attempt.stored, attempt.proof, user.id)
    if request.force_authn and session.created_at < attempt.asked_at and session.by_id is None:
        return await _sign_in(attempt, again=True)
    try:
        await check_access(exchange.work, service, user, session, request)
    except AccessDenied as refused:
        return await _turn_away(attempt, refused.messages, refused.code)
    if not is_proven:
        outcome = await _pass_flow(attempt, user)
        if outcome is not None:
            return outcome
    return await _answer(attempt, session, user)


async def _answer(attempt: SignOnAttempt, session: LoginSession, user: User) -> Outcome:
    try:
        return await answers.answer(
            attempt.exchange, attempt.service, attempt.request, session, user, stored=attempt.stored
        )
    except answers.AlreadyAnswered:
        return ErrorPage(title="Request error", messages=[_GONE], code="invalid_request")
    except answers.SignedOut:
        return await _sign_in(attempt, again=True)


async def _turn_away(attempt: SignOnAttempt, said: list[str], refusal: str) -> Outcome:
    if attempt.request.is_passive:
        return await answers.refuse(attempt.exchange, attempt.service, attempt.request, RESPONDER, REQUEST_DENIED)
    return ErrorPage(title="Not allowed", messages=said, status=403, code="access_denied", refusal=refusal)


async def _sign_in(attempt: SignOnAttempt, *, again: bool) -> Outcome:
    exchange, service = attempt.exchange, attempt.service
    if attempt.request.is_passive:
        return await answers.refuse(exchange, service, attempt.request, RESPONDER, NO_PASSIVE)
    key = attempt.key or await _keep(attempt)
    asked = {"next": _link(attempt, key), "again": "true" if again else ""}
    application = service.application.facts() if service.application is not None else {}
    cancel = _link(attempt, key, {CANCELLED: "true"})
    begun = await sign_in(exchange, service.record.authentication_flow, asked, application, cancel)
    if isinstance(begun, Denied):
        return await _turn_away(attempt, [begun.message], begun.code)
    return begun


async def _pass_flow(attempt: SignOnAttempt, user: User) -> Outcome | None:
    """Run the application's flow; None if there is nothing in it to show."""
    exchange, service = attempt.exchange, attempt.service
    slug = await slug_of(exchange.work, service.record.authorization_flow)
    if slug is None:
        return await _turn_away(attempt, ["This application has no authorization flow."], "")
    key, proof = attempt.key or stored_requests.new_key(), stored_requests.new_key()
    context = PlanContext(
        application=service.application.facts() if service.application is not None else {},
        is_sso=True,
        redirect=_link(attempt, key, {PROOF: proof}),
        consent_permissions=[],
        cancel_url=_link(attempt, key, {CANCELLED: "true"}),
    )
    result = await run_authorization(exchange, slug, {}, context)
    match result:
        case FlowShown(component=component) if component and attempt.request.is_passive:
            await leave(exchange, slug)
            return await answers.refuse(exchange, service, attempt.request, RESPONDER, NO_PASSIVE)
        case FlowShown(to=to, headers=headers):
            await _await_proof(attempt, key, proof, user)
            return Local(to, headers)
        case Denied(message=message, code=refusal):
            return await _turn_away(attempt, [message], refusal)
        case ErrorPage() | None:
            return result


async def _await_proof(attempt: SignOnAttempt, key: str, proof: str, user: User) -> None:
    """Store the hash of the proof that only the end of the flow reveals."""
    async with attempt.exchange.work.aside() as work:
        if attempt.key:
            await kept.prove_request(work.db, stored_requests.hash_key(key), stored_requests.hash_key(proof), user.id)
        else:
            await stored_requests.keep(
                work,
                SIGN_ON,
                attempt.content(),
                key=key,
                provider_id=attempt.service.id,
                proof=proof,
                user_id=user.id,
            )


async def _keep(attempt: SignOnAttempt) -> str:
    attempt.exchange.find(Limiter).spend(HAND_IN, address_key(attempt.exchange.address))
    async with attempt.exchange.work.aside() as work:
        return await stored_requests.keep(
            work, SIGN_ON, attempt.content(), key=stored_requests.new_key(), provider_id=attempt.service.id
        )


def _link(attempt: SignOnAttempt, key: str, more: dict[str, str] | None = None) -> str:
    return f"{attempt.service.path}?{urlencode({REQUEST: key} | (more or {}))}"
