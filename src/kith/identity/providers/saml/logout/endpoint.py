"""The single logout endpoint: a service asks us to sign somebody out, or answers our own request."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.executor.default_flows import find_default
from kith.identity.flows.plan import slug_of
from kith.identity.providers.saml import failures, messages, store
from kith.identity.providers.saml.access import model_of
from kith.identity.providers.saml.logout import signing_out
from kith.identity.providers.saml.logout.logout_answers import LogoutAnswer, send_answer
from kith.identity.providers.saml.outcomes import Outcome, SignOutAtOnce
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.saml.tables import SAMLSession
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.saml import store as kept
from kith.identity.saml import stored_requests
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.limits import SKEW_SECONDS
from kith.identity.saml.names import REQUESTER, UNKNOWN_PRINCIPAL
from kith.identity.saml.protocol import LogoutRequest
from kith.identity.saml.stored_requests import REQUEST
from kith.identity.sessions import cookies
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store as session_store

LOGOUT = "logout"
HAND_IN = LimitRule("saml.logout", most=60, seconds=300)
_GONE = "This request has expired or was answered already. Please go back to the application and start again."
_SLO_PATHS = ("slo/binding/redirect/", "slo/binding/post/")


class Asked(msgspec.Struct, frozen=True):
    """A request to sign somebody out, as it is kept: `is_signed` says that the service itself has written it."""

    request: LogoutRequest
    relay_state: str
    is_signed: bool


async def by_query(exchange: Exchange, service: ServiceProvider) -> Outcome:
    key = exchange.query(REQUEST)
    if key:
        stored = await stored_requests.find(exchange.work, LOGOUT, key)
        if stored is None or stored.provider_id != service.id:
            return ErrorPage(title="Request error", messages=[_GONE], code="invalid_request")
        async with exchange.work.aside() as work:
            taken = await kept.claim_request(work.db, stored.request_hash, work.now)
        if taken is None:
            return ErrorPage(title="Request error", messages=[_GONE], code="invalid_request")
        return await _sign_out(exchange, service, msgspec.convert(stored.content, Asked))
    exchange.find(Limiter).spend(HAND_IN, address_key(exchange.address))
    try:
        if exchange.query("SAMLResponse"):
            received = await messages.receive_query(exchange.work, service, exchange.query_string, "SAMLResponse")
            return _answered(received)
        received = await messages.receive_query(exchange.work, service, exchange.query_string, "SAMLRequest")
        return await _sign_out(exchange, service, _read(exchange.work, service, received))
    except SAMLError as error:
        return await failures.refuse(exchange, service, error)


async def by_form(exchange: Exchange, service: ServiceProvider, form: dict[str, str]) -> Outcome:
    """Posted from another site, where our cookies are missing: what was checked is kept, and goes on by redirect."""
    exchange.find(Limiter).spend(HAND_IN, address_key(exchange.address))
    try:
        if form.get("SAMLResponse"):
            return _answered(await messages.receive_form(exchange.work, service, form, "SAMLResponse"))
        received = await messages.receive_form(exchange.work, service, form, "SAMLRequest")
        asked = _read(exchange.work, service, received)
    except SAMLError as error:
        return await failures.refuse(exchange, service, error)
    async with exchange.work.aside() as work:
        content, key = msgspec.to_builtins(asked), stored_requests.new_key()
        await stored_requests.keep(work, LOGOUT, content, key=key, provider_id=service.id)
    return Local(f"{service.path}slo/binding/redirect/?{urlencode({REQUEST: key})}")


def _read(work: Work, service: ServiceProvider, received: messages.ReceivedMessage) -> Asked:
    from kith.identity.saml import logout_messages  # noqa: PLC0415 - loaded when first used

    request = logout_messages.read_logout_request(received.root)
    _check_destination(service, request.destination)
    logout_messages.check_age(request, work.now, SKEW_SECONDS)
    return Asked(request, received.relay_state, received.is_signed)


def _check_destination(service: ServiceProvider, destination: str) -> None:
    if destination and f"{destination.rstrip('/')}/" not in {service.url(path) for path in _SLO_PATHS}:
        raise SAMLError("The message is meant for another address.")


def _answered(received: messages.ReceivedMessage) -> Outcome:
    """A service has signed somebody out; in a whole window it goes on with the next."""
    from kith.identity.saml import logout_messages  # noqa: PLC0415 - loaded when first used

    logout_messages.read_logout_response(received.root)
    return Local(signing_out.link(received.relay_state) if received.relay_state else "/")


async def _sign_out(exchange: Exchange, service: ServiceProvider, asked: Asked) -> Outcome:
    """Only sessions that this service knows end: all of them if it has signed the request, else the browser's own."""
    work, request = exchange.work, asked.request
    session = await cookies.find(exchange)
    found = [one for one in await store.named(work.db, service.id, request.name_id) if _is_meant(one, request)]
    own = next((one for one in found if session is not None and one.session_uuid == session.session_uuid), None)
    others = [one for one in found if one is not own] if asked.is_signed else []
    answer = LogoutAnswer(provider_id=service.id, in_response_to=request.id, relay_state=asked.relay_state)
    if own is None and not others:
        unknown = msgspec.structs.replace(answer, status=REQUESTER, second_status=UNKNOWN_PRINCIPAL)
        return await send_answer(work, unknown) or Local("/")
    await _end_elsewhere(exchange, service, others)
    if own is None:
        return await send_answer(work, answer) or Local("/")
    return await _end_here(exchange, service, own, answer, proven=asked.is_signed or bool(request.session_indexes))


def _is_meant(session: SAMLSession, request: LogoutRequest) -> bool:
    return not request.session_indexes or session.session_index in request.session_indexes


async def _end_elsewhere(exchange: Exchange, service: ServiceProvider, found: list[SAMLSession]) -> None:
    """End sessions of other browsers of the same person; every other service is told by the usual way."""
    for one in found:
        async with exchange.work.aside() as work:
            await store.take(work.db, [one])
            if await session_store.end(work.db, one.session_uuid):
                work.announce(sessions.SessionEnded(session_uuid=one.session_uuid))
                context = {"logout_reason": "asked for by an application", "application": model_of(service)}
                await audit.record(work, "logout", "providers.saml", user_id=one.user_id, context=context)


async def _end_here(
    exchange: Exchange, service: ServiceProvider, own: SAMLSession, answer: LogoutAnswer, *, proven: bool
) -> Outcome:
    """Sign the browser out by the provider's flow, then tell the other services, then answer this one."""
    flow = await slug_of(exchange.work, service.record.invalidation_flow)
    flow = flow or await find_default(exchange, "invalidation")
    if flow is None:
        return ErrorPage(title="Not allowed", messages=["There is no way to sign out here."], status=403)
    run = await signing_out.prepare(exchange, without=service.id)
    run.answer, run.asked_by = answer, own.saml_session_uuid
    then = await signing_out.begin(exchange, run, "/")
    if proven:  # it knows already
        async with exchange.work.aside() as work:
            await store.take(work.db, [own])
    return SignOutAtOnce(flow, then, proven)
