"""Messages to an identity provider: signed, and by redirect or in a form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from kith.base.exchange import Headers
from kith.base.work import Work
from kith.identity.saml.instants import write_instant
from kith.identity.saml.names import POST
from kith.identity.sources.outcomes import SourceRedirect
from kith.identity.sources.saml.identity_provider import IdentityProvider, RequestKey, request_key


class IdentityProviderForm(msgspec.Struct, frozen=True):
    """A form for the identity provider, which sends itself unless it `waits` for a press of its button."""

    url: str
    fields: dict[str, str]
    waits: bool = False
    headers: Headers = ()


async def send(
    work: Work,
    idp: IdentityProvider,
    url: str,
    name: str,
    write: Callable[[], Any],
    *,
    in_query: bool,
    relay_state: str = "",
    waits: bool = False,
) -> SourceRedirect | IdentityProviderForm:
    """`write` makes the message's root element; it is called in a thread."""
    key = await request_key(work, idp)
    return await asyncio.to_thread(_send, url, name, write, key, in_query, relay_state, waits)


def _send(
    url: str,
    name: str,
    write: Callable[[], Any],
    key: RequestKey | None,
    in_query: bool,
    relay_state: str,
    waits: bool,
) -> SourceRedirect | IdentityProviderForm:
    from kith.identity.saml import bindings, signatures, xml  # noqa: PLC0415 - loaded when first used

    root = write()
    if in_query:
        signed = {"key": key.key, "algorithm": key.signature} if key is not None else {}
        return SourceRedirect(bindings.write_query(url, name, xml.to_bytes(root), relay_state=relay_state, **signed))
    if key is not None:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    fields = {name: bindings.encode(xml.to_bytes(root))}
    return IdentityProviderForm(url, fields | ({"RelayState": relay_state} if relay_state else {}), waits)


def authn_request(work: Work, idp: IdentityProvider, id: str, *, force: bool) -> Callable[[], Any]:
    now = work.now

    def write() -> Any:
        from kith.identity.saml import xml  # noqa: PLC0415 - loaded when first used

        record = idp.record
        root = xml.new(
            "samlp:AuthnRequest",
            {
                "ID": id,
                "Version": "2.0",
                "IssueInstant": write_instant(now),
                "Destination": record.sso_url,
                "AssertionConsumerServiceURL": idp.url("acs/"),
                "ProtocolBinding": POST,
                "ForceAuthn": "true" if force or record.force_authn else None,
            },
        )
        xml.add(root, "saml:Issuer", text=idp.entity_id)
        xml.add(root, "samlp:NameIDPolicy", {"Format": record.name_id_policy, "AllowCreate": "true"})
        return root

    return write
