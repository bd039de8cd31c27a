"""How large public keys may be that others give us: checking a signature with a long exponent is as dear as signing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["LEAST_BITS", "MOST_BITS", "MOST_EXPONENT", "is_moderate_jwk", "is_moderate_rsa"]

LEAST_BITS, MOST_BITS = 2048, 8192
MOST_EXPONENT = 1 << 32
_LONGEST_TEXT = 200  # of a coordinate, of which the longest curve needs 88


def is_moderate_rsa(modulus: int, exponent: int, *, least: int = LEAST_BITS) -> bool:
    return least <= modulus.bit_length() <= MOST_BITS and exponent < MOST_EXPONENT


def is_moderate_jwk(jwk: Mapping[str, Any]) -> bool:
    """Judged by the length of its texts, before anything is made of them."""
    if jwk.get("kty") == "RSA":
        modulus, exponent = jwk.get("n"), jwk.get("e")
        longest = (MOST_BITS // 8 + 1) * 4 // 3 + 1
        return isinstance(modulus, str) and len(modulus) <= longest and isinstance(exponent, str) and len(exponent) <= 7
    return all(not isinstance(jwk.get(name), str) or len(jwk[name]) <= _LONGEST_TEXT for name in ("x", "y"))
