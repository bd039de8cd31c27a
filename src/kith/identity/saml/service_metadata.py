"""Reading the metadata of a service provider."""

from __future__ import annotations

import base64
import binascii

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kith.identity.saml import xml
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.names import POST, PROTOCOL, REDIRECT, name_format
from kith.identity.saml.xml import Element

_BINDINGS = {POST: "post", REDIRECT: "redirect"}


class ServiceMetadata(msgspec.Struct, frozen=True, kw_only=True):
    entity_id: str
    acs_url: str
    acs_binding: str
    sls_url: str = ""
    sls_binding: str = "redirect"
    name_format: str | None = None
    signs_requests: bool = False
    signing_certificate: str | None = None
    encryption_certificate: str | None = None


def read_service_metadata(data: bytes) -> ServiceMetadata:
    root = xml.parse(data)
    if root.tag != xml.tag("md:EntityDescriptor"):
        raise SAMLError("This is not the metadata of one service.")
    entity_id = root.get("entityID") or ""
    roles = [one for one in xml.children(root, "md:SPSSODescriptor") if _speaks_saml2(one)]
    if not entity_id or len(roles) != 1:
        raise SAMLError("This is not the metadata of one service provider.")
    role = roles[0]
    acs = _endpoint(xml.children(role, "md:AssertionConsumerService"))
    if acs is None:
        raise SAMLError("The service has no address for responses that can be used.")
    sls = _endpoint(xml.children(role, "md:SingleLogoutService"))
    formats = [name_format(text) for text in xml.texts_of(xml.children(role, "md:NameIDFormat"))]
    return ServiceMetadata(
        entity_id=entity_id,
        acs_url=acs[0],
        acs_binding=acs[1],
        sls_url=sls[0] if sls is not None else "",
        sls_binding=sls[1] if sls is not None else "redirect",
        name_format=next((one for one in formats if one is not None), None),
        signs_requests=role.get("AuthnRequestsSigned") in ("true", "1"),
        signing_certificate=_certificate(role, "signing"),
        encryption_certificate=_certificate(role, "encryption"),
    )


def _speaks_saml2(role: Element) -> bool:
    return PROTOCOL in (role.get("protocolSupportEnumeration") or "").split()


def _endpoint(found: list[Element]) -> tuple[str, str] | None:
    """The address and binding: the default one first, then by index; a form is better than a redirect."""
    known = [one for one in found if one.get("Binding") in _BINDINGS and one.get("Location")]

    def rank(one: Element) -> tuple[bool, bool, int]:
        index = one.get("index") or ""
        is_number = index.isascii() and index.isdigit() and len(index) < 6
        return one.get("isDefault") != "true", one.get("Binding") != POST, int(index) if is_number else 0

    best = min(known, key=rank, default=None)
    return (best.get("Location"), _BINDINGS[best.get("Binding")]) if best is not None else None


def _certificate(role: Element, use: str) -> str | None:
    """The first certificate for this use, as PEM; a key without a use is for both."""
    for key in xml.children(role, "md:KeyDescriptor"):
        if key.get("use", use) != use:
            continue
        path = "/".join(xml.tag(name) for name in ("ds:KeyInfo", "ds:X509Data", "ds:X509Certificate"))
        for found in key.findall(path):
            return _as_pem(xml.text_of(found))
    return None


def _as_pem(text: str) -> str:
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
        return x509.load_der_x509_certificate(raw).public_bytes(Encoding.PEM).decode()
    except (ValueError, binascii.Error) as error:
        raise SAMLError("A certificate in the metadata cannot be read.") from error
