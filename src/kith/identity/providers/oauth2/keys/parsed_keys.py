"""Parsed keys, cached by name."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Any, TypeAlias

from kith.base.caches import ByVersion, ForAWhile
from kith.identity import jose

_KEY_BYTES = 8 << 10  # about what a parsed key takes
_MOST_BYTES = 8 << 20
NOTED_SECONDS = 6 * 3600.0
MOST_NOTED = 4096

AsymmetricKey: TypeAlias = "jose.RSAKey | jose.ECKey | jose.OKPKey"
KINDS = frozenset({"RS256", "ES256", "EdDSA", "rsa", "ec", "ed25519", "ed448"})  # algorithms, and types of key pairs


class KeyRing:
    """A cache of parsed keys. What a name stands for never changes, so entries never become wrong.

    It also knows which keys were noted lately to sign for which provider (used_keys.py).
    """

    def __init__(self) -> None:
        self._parsed: ByVersion[AsymmetricKey] = ByVersion("signing_keys", _MOST_BYTES)
        self._noted: ForAWhile[bool] = ForAWhile("noted_keys", seconds=NOTED_SECONDS, most=MOST_NOTED)

    def find(self, name: str) -> AsymmetricKey | None:
        return self._parsed.get(name)

    def keep(self, name: str, key: AsymmetricKey) -> AsymmetricKey:
        self._parsed.put(name, key, _KEY_BYTES)
        return key

    def is_noted(self, name: Hashable) -> bool:
        return self._noted.get(name) is not None

    def note(self, name: Hashable) -> None:
        self._noted.put(name, True)


async def parse(pem: str, kind: str) -> AsymmetricKey:
    """Parse a key in a thread: checking a long RSA key takes a while."""
    return await asyncio.to_thread(_reader(kind).import_key, pem)


def _reader(kind: str) -> type[jose.RSAKey] | type[jose.ECKey] | type[jose.OKPKey]:
    match kind:
        case "RS256" | "rsa":
            return jose.RSAKey
        case "ES256" | "ec":
            return jose.ECKey
        case "EdDSA" | "ed25519" | "ed448":
            return jose.OKPKey
    raise KeyError(kind)


def public_jwk(key: AsymmetricKey, alg: str, kid: str) -> dict[str, Any]:
    return {**key.as_dict(private=False), "use": "sig", "alg": alg, "kid": kid}
