"""Answering a service: an assertion for somebody who may enter, or the status that says why there is none."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from datetime import timedelta

from msgspec.structs import replace

from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.providers.saml import attributes, failures, store
from kith.identity.providers.saml.access import model_of
from kith.identity.providers.saml.authn_contexts import context_for
from kith.identity.providers.saml.name_ids import NameID, NoNameID, name_id_of
from kith.identity.providers.saml.outcomes import Outcome, send
from kith.identity.providers.saml.responses import AssertedSubject, ResponseDraft, write_response
from kith.identity.providers.saml.service_provider import ServiceProvider, encryption_certificate, signing_key
from kith.identity.providers.saml.tables import SAMLSession
from kith.identity.saml import store as kept
from kith.identity.saml.names import (
    INVALID_NAME_ID_POLICY,
    NO_AUTHN_CONTEXT,
    REQUESTER,
    RESPONDER,
    UNKNOWN_PRINCIPAL,
)
from kith.identity.saml.protocol import AuthnRequest
from kith.identity.saml.tables import StoredRequest
from kith.identity.sessions import service as sessions
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


class AlreadyAnswered(Exception):  # noqa: N818 - an answer
    """Somebody has answered the stored request before."""


class SignedOut(Exception):  # noqa: N818 - an answer
    """Their session has ended while the answer was written."""


async def refuse(
    exchange: Exchange, service: ServiceProvider, request: AuthnRequest, status: str, second_status: str
) -> Outcome:
    """A response without an assertion."""
    draft = await _draft(exchange.work, service, request)
    return await _deliver(service, request, replace(draft, status=status, second_status=second_status))


async def _context_class(
    work: Work, service: ServiceProvider, person: PolicySubject, session: LoginSession, request: AuthnRequest
) -> str | None:
    try:
        said = await attributes.value_of(work, service, person, service.record.authn_context_class_ref_mapping)
    except attributes.MappingFailed:
        return None
    return said or context_for(session.auth_method, request)


async def answer(
    exchange: Exchange,
    service: ServiceProvider,
    request: AuthnRequest,
    session: LoginSession,
    user: User,
    *,
    stored: StoredRequest | None,
) -> Outcome:
    """A response with an assertion. All is found out and signed before anything is written."""
    work = exchange.work
    person = await subjects.get(work, user.id)
    known = await store.session_at(work.db, session.session_uuid, service.id)
    index = known.session_index if known is not None else session_index(session.session_uuid)
    context_class = await _context_class(work, service, person, session, request)
    if context_class is None:
        return await refuse(exchange, service, request, RESPONDER, NO_AUTHN_CONTEXT)
    try:
        name_id = await name_id_of(work, service, person, index, request.name_format)
    except NoNameID as error:
        await failures.record(exchange, service, error.words)
        return await refuse(exchange, service, request, REQUESTER, INVALID_NAME_ID_POLICY)
    if request.subject and request.subject != name_id.value:
        return await refuse(exchange, service, request, REQUESTER, UNKNOWN_PRINCIPAL)
    subject = AssertedSubject(
        name_id=name_id,
        attributes=await attributes.attributes_of(work, service, person),
        context_class=context_class,
        session_index=index,
        signed_in_at=session.created_at,
        not_before=work.now + timedelta(seconds=service.seconds("assertion_valid_not_before")),
        not_on_or_after=work.now + timedelta(seconds=service.seconds("assertion_valid_not_on_or_after")),
        session_until=work.now + timedelta(seconds=service.seconds("session_valid_not_on_or_after")),
    )
    outcome = await _deliver(service, request, replace(await _draft(work, service, request), subject=subject))
    if not await sessions.hold(work, session):
        raise SignedOut
    if stored is not None and await kept.claim_request(work.db, stored.request_hash, work.now) is None:
        raise AlreadyAnswered
    await _note(work, service, session, user, subject)
    return outcome


def session_index(session_uuid: str) -> str:
    """By what services know a session. It gives no access to the session."""
    return hashlib.sha256(f"saml:{session_uuid}".encode()).hexdigest()


async def _draft(work: Work, service: ServiceProvider, request: AuthnRequest) -> ResponseDraft:
    record = service.record
    return ResponseDraft(
        issuer=service.issuer,
        destination=record.acs_url,
        in_response_to=request.id,
        audience=record.audience,
        now=work.now,
        signing_key=await signing_key(work, service),
        sign_assertion=record.sign_assertion,
        sign_response=record.sign_response,
        encryption_certificate=await encryption_certificate(work, service),
    )


async def _deliver(service: ServiceProvider, request: AuthnRequest, draft: ResponseDraft) -> Outcome:
    in_query = service.record.sp_binding == "redirect" and not request.wants_post
    data = await asyncio.to_thread(write_response, draft, in_query=in_query)
    return await send(
        draft.destination,
        "SAMLResponse",
        data,
        relay_state=request.relay_state,
        in_query=in_query,
        key=draft.signing_key if draft.sign_response else None,
    )


async def _note(
    work: Work, service: ServiceProvider, session: LoginSession, user: User, subject: AssertedSubject
) -> None:
    """Remember where somebody is signed in, and write it down."""
    name_id: NameID = subject.name_id
    await store.note_session(
        work.db,
        SAMLSession(
            saml_session_uuid=str(uuid.uuid4()),
            provider_id=service.id,
            user_id=user.id,
            session_uuid=session.session_uuid,
            session_index=subject.session_index,
            name_id=name_id.value,
            name_id_format=name_id.format,
            issuer=service.issuer,
            client_ip=work.origin.address[:45],
            created_at=work.now,
            expires_at=subject.session_until,
        ),
    )
    await audit.record(
        work,
        "authorize_application",
        "providers.saml",
        user_id=user.id,
        username=user.username,
        context={
            "authorized_application": model_of(service),
            "flow": service.record.authorization_flow,
            "scopes": "",
            "name_id_format": name_id.format,
        },
    )
