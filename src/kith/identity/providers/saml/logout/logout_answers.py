"""Answering a service that asked to sign somebody out (LogoutResponse)."""

from __future__ import annotations

import asyncio
from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.identity.providers.saml import service_provider
from kith.identity.providers.saml.outcomes import PostToService, ToService, send
from kith.identity.providers.saml.service_provider import MessageKey
from kith.identity.saml.instants import new_id
from kith.identity.saml.names import SUCCESS
from kith.identity.saml.protocol import LogoutResponse


class LogoutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    provider_id: int
    in_response_to: str
    relay_state: str = ""
    status: str = SUCCESS
    second_status: str = ""


async def send_answer(work: Work, answer: LogoutAnswer) -> ToService | PostToService | None:
    """None if the service has no address for answers, or is gone."""
    service = await service_provider.find(work, answer.provider_id)
    if service is None or not service.record.sls_url:
        return None
    record = service.record
    key = await service_provider.signing_key(work, service) if record.sign_logout_response else None
    response = LogoutResponse(
        id=new_id(),
        issuer=service.issuer,
        destination=record.sls_url,
        in_response_to=answer.in_response_to,
        status=answer.status,
        second_status=answer.second_status,
    )
    in_query = record.sls_binding == "redirect"
    data = await asyncio.to_thread(_write, response, key, work.now, signs=not in_query)
    return await send(record.sls_url, "SAMLResponse", data, relay_state=answer.relay_state, in_query=in_query, key=key)


def _write(response: LogoutResponse, key: MessageKey | None, now: datetime, *, signs: bool) -> bytes:
    from kith.identity.saml import logout_messages, signatures, xml  # noqa: PLC0415 - loaded when first used

    root = logout_messages.write_logout_response(response, now)
    if key is not None and signs:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    return xml.to_bytes(root)
