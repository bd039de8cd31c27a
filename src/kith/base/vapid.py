"""The key pair by which push services know this server (RFC 8292): P-256, made of one of the server's secrets."""

from __future__ import annotations

import base64
from datetime import datetime
from functools import lru_cache

import msgspec

from kith.base import crypto

__all__ = ["private_key", "public_key", "sign"]

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@lru_cache(4)
def private_key(secret: bytes) -> crypto.ec.EllipticCurvePrivateKey:
    return crypto.ec.derive_private_key(int.from_bytes(secret) % (_ORDER - 1) + 1, crypto.ec.SECP256R1())


@lru_cache(4)
def public_key(secret: bytes) -> str:
    """As apps hand it on: the uncompressed point in base64url."""
    point = private_key(secret).public_key().public_bytes(crypto.Encoding.X962, crypto.PublicFormat.UncompressedPoint)
    return _encoded(point)


def sign(secret: bytes, *, audience: str, subject: str, expires_at: datetime) -> str:
    """A JSON Web Token (ES256) that tells a push service who sends to it; `audience` is the service's origin."""
    claims = {"aud": audience, "exp": int(expires_at.timestamp()), "sub": subject}
    signed = f"{_HEADER}.{_encoded(msgspec.json.encode(claims))}"
    r, s = crypto.decode_dss_signature(
        private_key(secret).sign(signed.encode(), crypto.ec.ECDSA(crypto.hashes.SHA256()))
    )
    return f"{signed}.{_encoded(r.to_bytes(32) + s.to_bytes(32))}"


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


_HEADER = _encoded(b'{"typ":"JWT","alg":"ES256"}')
