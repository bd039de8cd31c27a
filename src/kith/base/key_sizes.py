"""How large public keys may be that others give us, and of which kinds.

To check a signature with a long exponent is as dear as to sign. To read a key of Diffie-Hellman takes half a minute
where its modulus is a prime of 10,000 bits: the library looks whether it is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "LEAST_BITS",
    "MOST_BITS",
    "MOST_EXPONENT",
    "is_cheap_to_read",
    "is_moderate_jwk",
    "is_moderate_rsa",
    "is_public_jwk",
    "names_diffie_hellman",
]

LEAST_BITS, MOST_BITS = 2048, 8192
MOST_EXPONENT = 1 << 32
_SEQUENCE, _INTEGER = 0x30, 0x02
# Identifiers of algorithms with their tag and length: RSA, RSA for PSS only, Ed25519.
_CHEAP = tuple(map(bytes.fromhex, ("06092a864886f70d010101", "06092a864886f70d01010a", "06032b6570")))
_DIFFIE_HELLMAN = tuple(map(bytes.fromhex, ("06092a864886f70d010301", "06072a8648ce3e0201")))
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_LONGEST_TEXT = 200  # of a coordinate, of which the longest curve needs 88


def is_moderate_rsa(modulus: int, exponent: int, *, least: int = LEAST_BITS) -> bool:
    return least <= modulus.bit_length() <= MOST_BITS and exponent < MOST_EXPONENT


def is_public_jwk(jwk: Mapping[str, Any]) -> bool:
    """Whether nothing of a private key is in it, of which the library would check every number."""
    return _PRIVATE.isdisjoint(jwk)


def is_moderate_jwk(jwk: Mapping[str, Any]) -> bool:
    """Judged by its names and the length of its texts, before anything is made of them: it is a public key."""
    if not is_public_jwk(jwk):
        return False
    if jwk.get("kty") == "RSA":
        modulus, exponent = jwk.get("n"), jwk.get("e")
        longest = (MOST_BITS // 8 + 1) * 4 // 3 + 1
        return isinstance(modulus, str) and len(modulus) <= longest and isinstance(exponent, str) and len(exponent) <= 7
    return all(not isinstance(jwk.get(name), str) or len(jwk[name]) <= _LONGEST_TEXT for name in ("x", "y"))


def is_cheap_to_read(der: bytes) -> bool:
    """Whether a public key says that it is of RSA or Ed25519, in either of the two forms that there are."""
    inside = _inside(der)
    if inside[:1] == bytes((_INTEGER,)):
        return True  # of RSA alone, which says no algorithm
    return _inside(inside).startswith(_CHEAP)


def _inside(der: bytes) -> bytes:
    """The content of a DER sequence, with all that follows it; nothing where there is none."""
    if len(der) < 2 or der[0] != _SEQUENCE:
        return b""
    return der[2:] if der[1] < 0x80 else der[2 + (der[1] & 0x7F) :]


def names_diffie_hellman(der: bytes) -> bool:
    """Whether a certificate or a private key may hold such a key: its identifier is somewhere in it."""
    return any(one in der for one in _DIFFIE_HELLMAN)
