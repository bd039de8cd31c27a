"""Secrets at rest: encrypted with a key from the data folder, bound to the place they are kept in."""

from __future__ import annotations

import base64
import secrets
from functools import cached_property

from kith.base import crypto

__all__ = ["Sealer", "is_sealed"]

PREFIX = "v1:"


def is_sealed(text: str) -> bool:
    return text.startswith(PREFIX)


class Sealer:
    def __init__(self, key: bytes) -> None:
        self._key = key

    @cached_property
    def _cipher(self) -> crypto.AESGCM:
        return crypto.AESGCM(self._key)

    def seal(self, text: str, place: str) -> str:
        """`place` (table and column) goes into the seal: moved elsewhere, it does not open."""
        nonce = secrets.token_bytes(12)
        sealed = self._cipher.encrypt(nonce, text.encode(), place.encode())
        return PREFIX + base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str, place: str) -> str:
        raw = base64.b64decode(sealed.removeprefix(PREFIX))
        try:
            return self._cipher.decrypt(raw[:12], raw[12:], place.encode()).decode()
        except crypto.InvalidTag as error:
            raise ValueError(f"a secret of {place} was not sealed with this server's key") from error
