"""Our metadata for a service: who we are, our addresses, and the certificate that we sign with."""

from __future__ import annotations

import asyncio
import hashlib

from kith.base.work import Work
from kith.identity.providers.saml.service_provider import (
    MessageKey,
    ServiceProvider,
    needs_signature,
    signing_key,
)
from kith.identity.saml.certificates import add_certificate
from kith.identity.saml.names import NAME_FORMATS, POST, PROTOCOL, REDIRECT


async def describe(work: Work, service: ServiceProvider) -> str:
    """The document; signed if the provider has a key."""
    return await asyncio.to_thread(_write, service, await signing_key(work, service))


def _write(service: ServiceProvider, key: MessageKey | None) -> str:
    from kith.identity.saml import signatures, xml  # noqa: PLC0415 - loaded when first used

    digest = hashlib.sha256(service.url().encode()).hexdigest()
    root = xml.new("md:EntityDescriptor", {"ID": f"_{digest}", "entityID": service.issuer})
    role = xml.add(
        root,
        "md:IDPSSODescriptor",
        {
            "protocolSupportEnumeration": PROTOCOL,
            "WantAuthnRequestsSigned": "true" if needs_signature(service) else "false",
        },
    )
    if key is not None:
        add_certificate(role, "signing", key.certificate)
    for binding, path in ((REDIRECT, "slo/binding/redirect/"), (POST, "slo/binding/post/")):
        xml.add(role, "md:SingleLogoutService", {"Binding": binding, "Location": service.url(path)})
    default = service.record.default_name_id_policy
    for name_format in (default, *(one for one in NAME_FORMATS if one != default)):
        xml.add(role, "md:NameIDFormat", text=name_format)
    for binding, path in ((REDIRECT, "sso/binding/redirect/"), (POST, "sso/binding/post/")):
        xml.add(role, "md:SingleSignOnService", {"Binding": binding, "Location": service.url(path)})
    if key is not None:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    return xml.to_document(root)
