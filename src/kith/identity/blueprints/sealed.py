"""Secrets in exported files: encrypted with a key that is given when they are exported and when they are applied."""

from __future__ import annotations

import base64
import hashlib
import secrets

from kith.base import crypto
from kith.identity.blueprints.tags import BadBlueprint

__all__ = ["SHORTEST_KEY", "FileSealer"]

SHORTEST_KEY = 16
MOST_SALTS = 20  # each takes a while; files that were exported together share one
_PREFIX = "kith1:"


class FileSealer:
    """`key` is a passphrase or the content of a key file."""

    def __init__(self, key: bytes) -> None:
        if len(key.strip()) < SHORTEST_KEY:
            raise BadBlueprint(f"the key must have at least {SHORTEST_KEY} characters")
        self._key = key.strip()
        self._salt = secrets.token_bytes(16)
        self._ciphers: dict[bytes, crypto.AESGCM] = {}

    def _cipher(self, salt: bytes) -> crypto.AESGCM:
        if salt not in self._ciphers:
            if len(self._ciphers) >= MOST_SALTS:
                raise BadBlueprint("these secrets come from too many exports")
            made = hashlib.scrypt(self._key, salt=salt, n=1 << 15, r=8, p=1, maxmem=64 << 20, dklen=32)
            self._ciphers[salt] = crypto.AESGCM(made)
        return self._ciphers[salt]

    def seal(self, text: str, place: str) -> str:
        """`place` (model and field) goes into the seal: moved elsewhere, it does not open."""
        nonce = secrets.token_bytes(12)
        sealed = self._cipher(self._salt).encrypt(nonce, text.encode(), place.encode())
        return _PREFIX + base64.b64encode(self._salt + nonce + sealed).decode()

    def open(self, sealed: str, place: str) -> str:
        try:
            if not sealed.startswith(_PREFIX):
                raise ValueError
            raw = base64.b64decode(sealed.removeprefix(_PREFIX), validate=True)
            return self._cipher(raw[:16]).decrypt(raw[16:28], raw[28:], place.encode()).decode()
        except (crypto.InvalidTag, ValueError):
            raise BadBlueprint(f"the sealed {place} does not open with this key") from None
