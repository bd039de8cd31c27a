"""Our metadata as a service: who we are at an identity provider."""

from __future__ import annotations

import asyncio
import hashlib

from kith.base.work import Work
from kith.identity.saml.certificates import add_certificate
from kith.identity.saml.names import POST, PROTOCOL, REDIRECT
from kith.identity.sources.saml import identity_provider
from kith.identity.sources.saml.identity_provider import IdentityProvider, RequestKey


async def describe(work: Work, idp: IdentityProvider) -> str:
    key = await identity_provider.request_key(work, idp)
    opens = await identity_provider.encryption_certificate(work, idp)
    return await asyncio.to_thread(_write, idp, key, opens)


def _write(idp: IdentityProvider, key: RequestKey | None, opens: str | None) -> str:
    from kith.identity.saml import signatures, xml  # noqa: PLC0415 - loaded when first used

    digest = hashlib.sha256(idp.url().encode()).hexdigest()
    root = xml.new("md:EntityDescriptor", {"ID": f"_{digest}", "entityID": idp.entity_id})
    role = xml.add(
        root,
        "md:SPSSODescriptor",
        {
            "protocolSupportEnumeration": PROTOCOL,
            "AuthnRequestsSigned": "true" if key is not None else "false",
            "WantAssertionsSigned": "true" if idp.record.signed_assertion else "false",
        },
    )
    if key is not None:
        add_certificate(role, "signing", key.certificate)
    if opens is not None:
        add_certificate(role, "encryption", opens)
    for binding in (REDIRECT, POST):
        xml.add(role, "md:SingleLogoutService", {"Binding": binding, "Location": idp.url("slo/")})
    xml.add(role, "md:NameIDFormat", text=idp.record.name_id_policy)
    xml.add(
        role,
        "md:AssertionConsumerService",
        {"Binding": POST, "Location": idp.url("acs/"), "index": "0", "isDefault": "true"},
    )
    if key is not None:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    return xml.to_document(root)
