"""Signing out together with an identity provider: it tells us, and we tell it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import UID, query
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.instants import new_id
from kith.identity.saml.limits import SKEW_SECONDS
from kith.identity.saml.names import REQUESTER, SUCCESS, UNKNOWN_PRINCIPAL
from kith.identity.saml.protocol import LogoutRequest, LogoutResponse
from kith.identity.sessions import cookies
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import SessionEnded
from kith.identity.sources import store
from kith.identity.sources.admission import refused
from kith.identity.sources.outcomes import SourceError, SourceRedirect
from kith.identity.sources.saml import identity_provider
from kith.identity.sources.saml.identity_provider import IdentityProvider, find_by_slug
from kith.identity.sources.saml.outgoing import IdentityProviderForm, send
from kith.identity.sources.saml.sign_in import forget_arrivals
from kith.identity.sources.tables import source_sessions

LOGOUTS = LimitRule("source-saml-logout", most=60, seconds=300)

_of_session = query(
    select(source_sessions.c.source, source_sessions.c.identifier, source_sessions.c.remote_session).where(
        source_sessions.c.session_uuid == bindparam("session", type_=UID())
    ),
    tuple,
)


class _Message(msgspec.Struct, frozen=True):
    """What was sent to us: a request, or an answer to ours (None)."""

    request: LogoutRequest | None
    relay_state: str


async def receive(
    exchange: Exchange, slug: str, form: Mapping[str, str] | None
) -> SourceRedirect | IdentityProviderForm | SourceError:
    """A message in the query, or in a form. An unsigned request is never taken."""
    exchange.find(Limiter).spend(LOGOUTS, address_key(exchange.address))
    work = exchange.work
    idp = await find_by_slug(work, slug)
    certificate = await identity_provider.certificate(work, idp)
    try:
        message = await asyncio.to_thread(
            _read, exchange.query_string, form, certificate, idp.allows_sha1, work.now, idp.url("slo/")
        )
        if message.request is None:
            return SourceRedirect("/")
        if idp.record.idp_issuer and message.request.issuer != idp.record.idp_issuer:
            raise SAMLError("The message comes from another issuer.")
    except SAMLError as error:
        return await refused(exchange, idp.source, error.words, error.words, status=400)
    ended = await _end(work, idp, message.request)
    return await _answer(work, idp, message, is_known=ended)


def _read(
    query_string: bytes,
    form: Mapping[str, str] | None,
    certificate: str,
    allow_sha1: bool,
    now: datetime,
    destination: str,
) -> _Message:
    from kith.identity.saml import bindings, logout_messages, signatures, xml  # noqa: PLC0415 - loaded when first used

    name = "SAMLRequest" if (form or {}).get("SAMLRequest") or b"SAMLRequest=" in query_string else "SAMLResponse"
    if form is not None:
        if not form.get(name):
            raise SAMLError("The SAML request payload is missing.")
        root, relay_state = xml.parse(bindings.decode(form[name])), form.get("RelayState", "")
        bindings.check_relay_state(relay_state)
        if name == "SAMLRequest":
            root = signatures.verify(root, certificate=certificate, allow_sha1=allow_sha1)
    else:
        message = bindings.read_query(query_string, name)
        if message is None:
            raise SAMLError("The SAML request payload is missing.")
        if name == "SAMLRequest":
            bindings.verify_query(message, certificate=certificate, allow_sha1=allow_sha1)
        root, relay_state = xml.parse(message.data), message.relay_state
    if name == "SAMLResponse":
        logout_messages.read_logout_response(root)
        return _Message(None, relay_state)
    request = logout_messages.read_logout_request(root)
    if request.destination and request.destination != destination:
        raise SAMLError("The message is meant for another address.")
    logout_messages.check_age(request, now, SKEW_SECONDS)
    return _Message(request, relay_state)


async def _end(work: Work, idp: IdentityProvider, request: LogoutRequest) -> bool:
    """End the sessions that began with this name there: all of them, or those of the named sessions."""
    found = [
        session_uuid
        for remote in (request.session_indexes or [""])
        for session_uuid in await store.sessions_by(
            work.db, idp.source.pbm_uuid, identifier=request.name_id, remote=remote
        )
    ]
    async with work.aside() as aside:
        waited = await forget_arrivals(aside, idp.source.pbm_uuid, request.name_id, request.session_indexes)
        for session_uuid in found:
            if await sessions.end(aside.db, session_uuid):
                aside.announce(SessionEnded(session_uuid=session_uuid))
                context = {
                    "logout_reason": "ended by the source",
                    "source": {"pk": idp.source.pbm_uuid, "name": idp.source.name, "slug": idp.source.slug},
                }
                await audit.record(aside, "logout", "sources.saml", context=context)
    return bool(found) or waited


async def _answer(
    work: Work, idp: IdentityProvider, message: _Message, *, is_known: bool
) -> SourceRedirect | IdentityProviderForm:
    request = message.request
    if request is None or not idp.record.slo_url:
        return SourceRedirect("/")
    response = LogoutResponse(
        id=new_id(),
        issuer=idp.entity_id,
        destination=idp.record.slo_url,
        in_response_to=request.id,
        status=SUCCESS if is_known else REQUESTER,
        second_status="" if is_known else UNKNOWN_PRINCIPAL,
    )
    return await send(
        work,
        idp,
        idp.record.slo_url,
        "SAMLResponse",
        _response(response, work.now),
        in_query=True,
        relay_state=message.relay_state,
    )


def _response(response: LogoutResponse, now: datetime) -> Callable[[], Any]:
    def write() -> Any:
        from kith.identity.saml.logout_messages import write_logout_response  # noqa: PLC0415 - loaded when first used

        return write_logout_response(response, now)

    return write


async def way_out(exchange: Exchange) -> str | None:
    """Where the browser goes when it has signed out here: to the identity provider, if it came from one.

    Asked before the session ends, because it is known only until then.
    """
    work = exchange.work
    session = await cookies.find(exchange)
    if session is None:
        return None
    row = await work.db.one(_of_session, session=session.session_uuid)
    source = await store.find_source_by_id(work.db, row[0]) if row is not None else None
    if row is None or source is None or source.kind != "saml":
        return None
    idp = await identity_provider.of_source(work, source)
    if not idp.record.slo_url:
        return None
    request = LogoutRequest(
        id=new_id(),
        issuer=idp.entity_id,
        destination=idp.record.slo_url,
        name_id=row[1],
        name_format=idp.record.name_id_policy,
        session_indexes=[row[2]] if row[2] else [],
    )
    sent = await send(work, idp, idp.record.slo_url, "SAMLRequest", _request(request, work.now), in_query=True)
    return sent.to if isinstance(sent, SourceRedirect) else None


def _request(request: LogoutRequest, now: datetime) -> Callable[[], Any]:
    def write() -> Any:
        from kith.identity.saml.logout_messages import write_logout_request  # noqa: PLC0415 - loaded when first used

        return write_logout_request(request, now)

    return write
