"""What an app sends for its messages to be encrypted with: a public key and a shared secret (RFC 8291)."""

from __future__ import annotations

import base64
import re

from kith.base import crypto

__all__ = ["AUTH_BYTES", "decode", "encode", "is_point"]

POINT_BYTES = 65
AUTH_BYTES = 16
_LONGEST = 200
_BASE64 = re.compile(r"[A-Za-z0-9_-]*")


def decode(text: str) -> bytes | None:
    """Base64 in either alphabet, with or without padding, as apps write it; None where it is none."""
    if len(text) > _LONGEST:
        return None
    plain = text.rstrip("=").replace("+", "-").replace("/", "_")
    if len(plain) % 4 == 1 or _BASE64.fullmatch(plain) is None:
        return None
    return base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))


def encode(raw: bytes) -> str:
    """Base64url without padding, as it is written everywhere here."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def is_point(raw: bytes) -> bool:
    """Whether it is a point on P-256, uncompressed."""
    if len(raw) != POINT_BYTES or raw[0] != 4:
        return False
    try:
        crypto.ec.EllipticCurvePublicKey.from_encoded_point(crypto.ec.SECP256R1(), raw)
    except ValueError:
        return False
    return True
