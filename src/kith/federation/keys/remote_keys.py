"""Keys that other servers publish, read and written: PEM texts, and Multikeys (FEP-521a).

A key costs us with every signature that is checked, so its size is limited. It also costs us when it is read, and
some kinds cost far more than others: which kind it is, is looked at before. Whose a key is, is told by the document it
stands in (`vocabulary.incoming.keys`).
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode

from kith.base import crypto
from kith.base.key_sizes import LEAST_BITS, MOST_BITS, is_cheap_to_read, is_moderate_rsa
from kith.federation.signatures.received import PublicKey
from kith.federation.signatures.refusals import Fault, SignatureRefused

__all__ = ["read_multikey", "read_pem", "write_pem"]

LONGEST_PEM = 4096
LONGEST_MULTIKEY = 1600
_BASE58 = {letter: value for value, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")}
_PEM = re.compile(r"-----BEGIN ((?:RSA )?PUBLIC KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----")
_ED25519, _RSA = b"\xed\x01", b"\x85\x24"  # multicodec: ed25519-pub and rsa-pub


def read_pem(text: object) -> PublicKey:
    if not isinstance(text, str) or len(text) > LONGEST_PEM:
        raise _unreadable("it is no text, or too long")
    found = _PEM.search(text)
    if found is None:
        raise _unreadable("it is no key in PEM format")
    try:
        return _checked(_loaded(b64decode("".join(found[2].split()), validate=True)))
    except (ValueError, TypeError, binascii.Error, crypto.UnsupportedAlgorithm) as error:
        raise _unreadable("it is no key in PEM format") from error


def _loaded(der: bytes) -> object:
    if not is_cheap_to_read(der):
        raise ValueError("it is neither RSA nor Ed25519")
    return crypto.load_der_public_key(der)


def write_pem(key: PublicKey) -> str:
    """As it is kept, whatever form it came in."""
    return key.public_bytes(crypto.Encoding.PEM, crypto.PublicFormat.SubjectPublicKeyInfo).decode()


def read_multikey(text: object) -> PublicKey:
    """`z`, then a kind and a key in base58."""
    if not isinstance(text, str) or len(text) > LONGEST_MULTIKEY or not text.startswith("z"):
        raise _unreadable("it is no Multikey in base58")
    raw = _from_base58(text[1:])
    kind, key = raw[:2], raw[2:]
    try:
        if kind == _ED25519:
            return crypto.Ed25519PublicKey.from_public_bytes(key)
        if kind == _RSA:
            return _checked(_loaded(key))
    except (ValueError, TypeError, crypto.UnsupportedAlgorithm) as error:
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
    if isinstance(key, crypto.Ed25519PublicKey):
        return key
    if not isinstance(key, crypto.RSAPublicKey):
        raise _unreadable("it is neither RSA nor Ed25519")
    numbers = key.public_numbers()
    if not is_moderate_rsa(numbers.n, numbers.e):
        raise _unreadable(f"RSA keys have {LEAST_BITS} to {MOST_BITS} bits, and an exponent of at most 32")
    return key


def _unreadable(why: str) -> SignatureRefused:
    return SignatureRefused(Fault.KEY, f"The public key cannot be used: {why}")
