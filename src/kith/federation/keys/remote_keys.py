"""Keys that other servers publish: PEM texts (`publicKey`) and Multikeys (FEP-521a, `assertionMethod`).

A key costs us with every signature that is checked, so its size is limited, and so is its exponent: a long one would
make checking as dear as signing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key

from kith.federation.signatures.received import PublicKey
from kith.federation.signatures.refusals import Fault, SignatureRefused

__all__ = ["RemoteKey", "keys_of", "read_key", "read_multikey", "read_pem"]

LEAST_BITS, MOST_BITS = 2048, 8192
MOST_EXPONENT = 1 << 32
LONGEST_PEM = 4096
LONGEST_MULTIKEY = 1600
LONGEST_ID = 2048
MOST_KEYS = 10
_BASE58 = {letter: value for value, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}
_ED25519, _RSA = b"\xed\x01", b"\x85\x24"  # multicodec: ed25519-pub and rsa-pub


class RemoteKey(msgspec.Struct, frozen=True):
    """`owner` is the actor that the key says it belongs to; believe it when the actor lists the key."""

    id: str
    owner: str
    key: PublicKey


def keys_of(actor: Mapping[str, Any]) -> list[RemoteKey]:
    """All keys of an actor document that can be read and that name the actor as their owner, the first ten at most."""
    sent = [*_listed(actor.get("publicKey")), *_listed(actor.get("assertionMethod"))]
    found: dict[str, RemoteKey] = {}
    for one in sent[:MOST_KEYS]:
        try:
            key = read_key(one)
        except SignatureRefused:
            continue
        if key.owner == actor.get("id"):
            found.setdefault(key.id, key)
    return list(found.values())


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def read_key(document: object) -> RemoteKey:
    """A key as a document of its own, or as part of an actor."""
    if not isinstance(document, Mapping):
        raise _unreadable("it is no object")
    id, owner = document.get("id"), document.get("owner", document.get("controller"))
    if not isinstance(id, str) or not isinstance(owner, str) or max(len(id), len(owner)) > LONGEST_ID:
        raise _unreadable("it has no id or no owner")
    if document.get("type") == "Multikey" or "publicKeyMultibase" in document:
        return RemoteKey(id, owner, read_multikey(document.get("publicKeyMultibase")))
    return RemoteKey(id, owner, read_pem(document.get("publicKeyPem")))


def read_pem(text: object) -> PublicKey:
    if not isinstance(text, str) or len(text) > LONGEST_PEM:
        raise _unreadable("it is no text, or too long")
    try:
        return _checked(load_pem_public_key(text.encode()))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable("it is no key in PEM format") from error


def read_multikey(text: object) -> PublicKey:
    """`z`, then a kind and a key in base58."""
    if not isinstance(text, str) or len(text) > LONGEST_MULTIKEY or not text.startswith("z"):
        raise _unreadable("it is no Multikey in base58")
    raw = _from_base58(text[1:])
    kind, key = raw[:2], raw[2:]
    try:
        if kind == _ED25519:
            return Ed25519PublicKey.from_public_bytes(key)
        if kind == _RSA:
            return _checked(load_der_public_key(key))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable("it is no key of its kind") from error
    raise _unreadable("it is neither RSA nor Ed25519")


def _from_base58(text: str) -> bytes:
    number = 0
    for letter in text:
        value = _BASE58.get(letter)
        if value is None:
            raise _unreadable("it is no Multikey in base58")
        number = number * 58 + value
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def _checked(key: object) -> PublicKey:
    if isinstance(key, Ed25519PublicKey):
        return key
    if not isinstance(key, RSAPublicKey):
        raise _unreadable("it is neither RSA nor Ed25519")
    if not LEAST_BITS <= key.key_size <= MOST_BITS:
        raise _unreadable(f"RSA keys have {LEAST_BITS} to {MOST_BITS} bits")
    if key.public_numbers().e >= MOST_EXPONENT:
        raise _unreadable("its exponent is too long")
    return key


def _unreadable(why: str) -> SignatureRefused:
    return SignatureRefused(Fault.KEY, f"The public key cannot be used: {why}")
