"""Checks of the keys that devices hand in. All of them are text: base64, with or without padding."""

from __future__ import annotations

import base64
import binascii

from kith.base import crypto

KEY_BYTES = 32
SIGNATURE_BYTES = 64
LONGEST_KEY = 100  # characters, more than either ever has


def decode(text: str) -> bytes | None:
    """None for what is not base64."""
    if len(text) > LONGEST_KEY or not text.isascii():
        return None
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return None


def is_key(text: str) -> bool:
    """Whether it can be an Ed25519 or a Curve25519 public key: both are 32 bytes."""
    raw = decode(text)
    return raw is not None and len(raw) == KEY_BYTES


def is_signature_of(signature: str, message: str, *, by: str) -> bool:
    """Whether `by`, an Ed25519 public key, has signed `message` as it is written."""
    raw, key = decode(signature), decode(by)
    if raw is None or key is None or len(raw) != SIGNATURE_BYTES or len(key) != KEY_BYTES:
        return False
    try:
        crypto.Ed25519PublicKey.from_public_bytes(key).verify(raw, message.encode("utf-8", "surrogatepass"))
    except (crypto.InvalidSignature, ValueError):
        return False
    return True
