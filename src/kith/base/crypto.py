"""The names of `cryptography` that the server uses. They are loaded when one is first asked for: 9 MB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kith.base.late_names import load_late

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_der_public_key,
        load_pem_private_key,
    )
else:
    __getattr__ = load_late(
        globals(),
        {
            "cryptography": ("x509",),
            "cryptography.exceptions": ("InvalidSignature", "InvalidTag", "UnsupportedAlgorithm"),
            "cryptography.hazmat.primitives": ("hashes",),
            "cryptography.hazmat.primitives.asymmetric": ("ec", "rsa"),
            "cryptography.hazmat.primitives.asymmetric.ed25519": ("Ed25519PublicKey",),
            "cryptography.hazmat.primitives.asymmetric.padding": ("PKCS1v15",),
            "cryptography.hazmat.primitives.asymmetric.rsa": ("RSAPrivateKey", "RSAPublicKey"),
            "cryptography.hazmat.primitives.asymmetric.utils": ("decode_dss_signature",),
            "cryptography.hazmat.primitives.ciphers.aead": ("AESGCM",),
            "cryptography.hazmat.primitives.kdf.hkdf": ("HKDF",),
            "cryptography.hazmat.primitives.serialization": (
                "Encoding",
                "NoEncryption",
                "PrivateFormat",
                "PublicFormat",
                "load_der_public_key",
                "load_pem_private_key",
            ),
        },
    )

__all__ = [
    "AESGCM",
    "HKDF",
    "Ed25519PublicKey",
    "Encoding",
    "InvalidSignature",
    "InvalidTag",
    "NoEncryption",
    "PKCS1v15",
    "PrivateFormat",
    "PublicFormat",
    "RSAPrivateKey",
    "RSAPublicKey",
    "UnsupportedAlgorithm",
    "decode_dss_signature",
    "ec",
    "hashes",
    "load_der_public_key",
    "load_pem_private_key",
    "rsa",
    "x509",
]
