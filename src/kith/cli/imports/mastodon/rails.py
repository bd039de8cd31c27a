"""Secrets that Mastodon keeps encrypted: those of authenticator apps.

Up to 4.2 with `OTP_SECRET`, from 4.3 on with the `ACTIVE_RECORD_ENCRYPTION_...` keys, all of which are in the settings
of the old server (`.env.production`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kith.cli.imports.mastodon.staging import Row

__all__ = ["Secrets", "WrongKey"]

_LEGACY_ROUNDS, _ROUNDS = 2000, 1 << 16
_TAG = 16
LONGEST = 1 << 16


class WrongKey(ValueError):  # noqa: N818 - it says what is wrong
    """It was encrypted with another key."""


class Secrets(msgspec.Struct, frozen=True):
    otp_secret: str = ""
    primary_key: str = ""
    derivation_salt: str = ""

    def totp(self, row: Row) -> str | None:
        """The secret of somebody's authenticator app. None where the key for it was not given."""
        if row["otp_secret"]:
            if not (self.primary_key and self.derivation_salt):
                return None
            return _opened(row["otp_secret"], self.primary_key, self.derivation_salt)
        if row["encrypted_otp_secret"] and self.otp_secret:
            return _opened_legacy(row, self.otp_secret)
        return None


def _opened_legacy(row: Row, key: str) -> str:
    sealed, iv, salt = (
        _bytes(row[name]) for name in ("encrypted_otp_secret", "encrypted_otp_secret_iv", "encrypted_otp_secret_salt")
    )
    derived = hashlib.pbkdf2_hmac("sha1", key.encode(), salt, _LEGACY_ROUNDS, 32)
    return _decrypted(derived, iv, sealed)


def _opened(text: str, key: str, salt: str) -> str:
    """What Rails writes: a JSON object with the ciphertext (`p`), and in `h` the nonce and the tag."""
    try:
        told: Any = msgspec.json.decode(text)
        sealed, head = _bytes(told["p"]), told["h"]
        iv, tag = _bytes(head["iv"]), _bytes(head["at"])
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise WrongKey("it is not encrypted as Mastodon does it") from error
    for digest in ("sha256", "sha1"):
        derived = hashlib.pbkdf2_hmac(digest, key.encode(), salt.encode(), _ROUNDS, 32)
        try:
            plain = AESGCM(derived).decrypt(iv, sealed + tag, None)
        except (InvalidTag, ValueError):
            continue
        return _unpacked(plain) if head.get("c") else plain.decode()
    raise WrongKey("the ACTIVE_RECORD_ENCRYPTION keys are not those that it was encrypted with")


def _unpacked(packed: bytes) -> str:
    found = zlib.decompressobj()
    return found.decompress(packed, LONGEST).decode()


def _decrypted(key: bytes, iv: bytes, sealed: bytes) -> str:
    try:
        return AESGCM(key).decrypt(iv, sealed, None).decode()
    except (InvalidTag, ValueError) as error:
        raise WrongKey("OTP_SECRET is not the one that it was encrypted with") from error


def _bytes(text: str | None) -> bytes:
    """Base64 as Ruby reads it: whatever does not belong to it is passed over."""
    letters = "".join(one for one in text or "" if one.isascii() and (one.isalnum() or one in "+/="))
    try:
        return base64.b64decode(letters.rstrip("=") + "=" * (-len(letters.rstrip("=")) % 4))
    except binascii.Error as error:
        raise WrongKey("it is not encrypted as Mastodon does it") from error
