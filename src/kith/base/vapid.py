"""The key pair by which push services know this server (RFC 8292): P-256, made of one of the server's secrets."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["private_key", "public_key"]

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@lru_cache(4)
def private_key(secret: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(secret) % (_ORDER - 1) + 1, ec.SECP256R1())


@lru_cache(4)
def public_key(secret: bytes) -> str:
    """As apps hand it on: the uncompressed point in base64url."""
    point = private_key(secret).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()
