"""Certificates in metadata."""

from __future__ import annotations

import base64
from typing import Any


def add_certificate(role: Any, use: str, certificate: str) -> None:
    from cryptography import x509  # noqa: PLC0415 - loaded when first used
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415 - loaded when first used

    from kith.identity.saml import xml  # noqa: PLC0415 - loaded when first used

    der = x509.load_pem_x509_certificate(certificate.encode()).public_bytes(Encoding.DER)
    info = xml.add(xml.add(role, "md:KeyDescriptor", {"use": use}), "ds:KeyInfo")
    xml.add(xml.add(info, "ds:X509Data"), "ds:X509Certificate", text=base64.b64encode(der).decode())
