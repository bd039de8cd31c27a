"""Messages of a service as they arrive: decoded, parsed and checked for their signature."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.providers.saml import service_provider
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.saml.errors import BadSignature, SAMLError

MISSING = "The SAML request payload is missing."


class ReceivedMessage(msgspec.Struct, frozen=True):
    """The message's root element: the signed one, where a signature was required."""

    root: Any
    relay_state: str
    is_signed: bool


async def receive_query(work: Work, service: ServiceProvider, query: bytes, name: str) -> ReceivedMessage:
    certificate = await _certificate(work, service)
    return await asyncio.to_thread(_read_query, query, name, certificate, allow_sha1=service.allows_sha1)


async def receive_form(work: Work, service: ServiceProvider, form: dict[str, str], name: str) -> ReceivedMessage:
    certificate = await _certificate(work, service)
    return await asyncio.to_thread(_read_form, form, name, certificate, allow_sha1=service.allows_sha1)


async def _certificate(work: Work, service: ServiceProvider) -> str | None:
    certificate = await service_provider.verification_certificate(work, service)
    if certificate is None and service_provider.needs_signature(service):
        raise BadSignature("Requests must be signed, but there is no certificate to check them with.")
    return certificate


def _read_query(query: bytes, name: str, certificate: str | None, *, allow_sha1: bool) -> ReceivedMessage:
    from kith.identity.saml import bindings, xml  # noqa: PLC0415 - loaded when first used

    message = bindings.read_query(query, name)
    if message is None:
        raise SAMLError(MISSING)
    if certificate is not None:
        bindings.verify_query(message, certificate=certificate, allow_sha1=allow_sha1)
    return ReceivedMessage(xml.parse(message.data), message.relay_state, is_signed=certificate is not None)


def _read_form(form: dict[str, str], name: str, certificate: str | None, *, allow_sha1: bool) -> ReceivedMessage:
    from kith.identity.saml import bindings, signatures, xml  # noqa: PLC0415 - loaded when first used

    if not form.get(name):
        raise SAMLError(MISSING)
    bindings.check_relay_state(form.get("RelayState", ""))
    root = xml.parse(bindings.decode(form[name]))
    if certificate is not None:
        root = signatures.verify(root, certificate=certificate, allow_sha1=allow_sha1)
    return ReceivedMessage(root, form.get("RelayState", ""), is_signed=certificate is not None)
