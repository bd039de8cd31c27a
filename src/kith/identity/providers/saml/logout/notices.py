"""What a service is told when somebody has signed out (LogoutRequest)."""

from __future__ import annotations

import asyncio
from datetime import datetime

import msgspec

from kith.base.work import Work
from kith.identity.providers.saml.outcomes import PostToService, ToService, send
from kith.identity.providers.saml.service_provider import MessageKey, ServiceProvider, open_signing_key
from kith.identity.providers.saml.tables import SAMLSession
from kith.identity.saml.instants import new_id
from kith.identity.saml.protocol import LogoutRequest


class SAMLLogoutNotice(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is needed to tell a service, because person, session and provider may be gone by then."""

    provider_id: int
    url: str
    binding: str
    issuer: str
    name_id: str
    name_id_format: str
    session_index: str
    signing_kp: str | None
    signature_algorithm: str
    digest_algorithm: str
    saml_session_uuid: str = ""

    @property
    def in_query(self) -> bool:
        return self.binding == "redirect"


def notice_for(service: ServiceProvider, session: SAMLSession) -> SAMLLogoutNotice:
    record = service.record
    return SAMLLogoutNotice(
        provider_id=service.id,
        url=record.sls_url,
        binding=record.sls_binding,
        issuer=session.issuer,
        name_id=session.name_id,
        name_id_format=session.name_id_format,
        session_index=session.session_index,
        signing_kp=record.signing_kp if record.sign_logout_request else None,
        signature_algorithm=record.signature_algorithm,
        digest_algorithm=record.digest_algorithm,
        saml_session_uuid=session.saml_session_uuid,
    )


async def write_notice(work: Work, notice: SAMLLogoutNotice, *, relay_state: str = "") -> ToService | PostToService:
    key = await open_signing_key(work, notice.signing_kp, notice.signature_algorithm, notice.digest_algorithm)
    data = await asyncio.to_thread(_write, notice, key, work.now)
    return await send(notice.url, "SAMLRequest", data, relay_state=relay_state, in_query=notice.in_query, key=key)


def _write(notice: SAMLLogoutNotice, key: MessageKey | None, now: datetime) -> bytes:
    from kith.identity.saml import logout_messages, signatures, xml  # noqa: PLC0415 - loaded when first used

    request = LogoutRequest(
        id=new_id(),
        issuer=notice.issuer,
        destination=notice.url,
        name_id=notice.name_id,
        name_format=notice.name_id_format,
        session_indexes=[notice.session_index],
    )
    root = logout_messages.write_logout_request(request, now)
    if key is not None and not notice.in_query:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    return xml.to_bytes(root)
