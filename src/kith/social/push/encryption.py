"""Encryption of messages for one receiver: `aes128gcm` (RFC 8291) and the older `aesgcm` (its draft 04).

Every message has a key pair and a salt of its own. What the two sides share is derived from the receiver's public key
and its secret `auth`; the push service in between sees sizes only.
"""

from __future__ import annotations

import secrets

import msgspec

from kith.base import crypto
from kith.social.push.keys import encode

__all__ = ["MOST_BYTES", "Encrypted", "encrypt", "encrypt_legacy"]

MOST_MESSAGE = 4096  # what a push service must take, all included
_HEADER = 16 + 4 + 1 + 65  # salt, record size, length of the key, the key
_OVERHEAD = _HEADER + 1 + 16  # a delimiter, and the authentication tag
MOST_BYTES = MOST_MESSAGE - _OVERHEAD  # of the text; `aesgcm` has room for more, and no need of it


class Encrypted(msgspec.Struct, frozen=True):
    """A body, and the headers that say how to read it."""

    body: bytes
    headers: dict[str, str]


def encrypt(text: bytes, receiver: bytes, auth: bytes) -> Encrypted:
    """`aes128gcm`: everything a receiver needs stands at the beginning of the body. `receiver` is its public key."""
    public, shared = _agree(receiver, text)
    salt = secrets.token_bytes(16)
    secret = _derive(auth, shared, b"WebPush: info\0" + receiver + public, 32)
    key = _derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(salt, secret, b"Content-Encoding: nonce\0", 12)
    header = salt + MOST_MESSAGE.to_bytes(4) + len(public).to_bytes(1) + public
    body = header + crypto.AESGCM(key).encrypt(nonce, text + b"\x02", None)
    return Encrypted(body, {"Content-Encoding": "aes128gcm"})


def encrypt_legacy(text: bytes, receiver: bytes, auth: bytes) -> Encrypted:
    """`aesgcm`: the salt and the sender's key stand in headers."""
    public, shared = _agree(receiver, text)
    salt = secrets.token_bytes(16)
    secret = _derive(auth, shared, b"Content-Encoding: auth\0", 32)
    context = b"P-256\0" + _sized(receiver) + _sized(public)
    key = _derive(salt, secret, b"Content-Encoding: aesgcm\0" + context, 16)
    nonce = _derive(salt, secret, b"Content-Encoding: nonce\0" + context, 12)
    body = crypto.AESGCM(key).encrypt(nonce, b"\0\0" + text, None)  # begins with the length of a padding: none
    return Encrypted(
        body,
        {
            "Content-Encoding": "aesgcm",
            "Encryption": f"salt={encode(salt)}",
            "Crypto-Key": f"dh={encode(public)}",
        },
    )


def _agree(receiver: bytes, text: bytes) -> tuple[bytes, bytes]:
    """The public part of a fresh key pair, and what it shares with the receiver."""
    if len(text) > MOST_BYTES:
        raise ValueError(f"a message of {len(text)} bytes is too large")
    sender = crypto.ec.generate_private_key(crypto.ec.SECP256R1())
    public = sender.public_key().public_bytes(crypto.Encoding.X962, crypto.PublicFormat.UncompressedPoint)
    point = crypto.ec.EllipticCurvePublicKey.from_encoded_point(crypto.ec.SECP256R1(), receiver)
    return public, sender.exchange(crypto.ec.ECDH(), point)


def _derive(salt: bytes, secret: bytes, info: bytes, size: int) -> bytes:
    return crypto.HKDF(crypto.hashes.SHA256(), size, salt, info).derive(secret)


def _sized(raw: bytes) -> bytes:
    return len(raw).to_bytes(2) + raw
