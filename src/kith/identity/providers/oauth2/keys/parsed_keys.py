"""Parsed keys, cached by name."""

from __future__ import annotations

import asyncio
from typing import Any

from joserfc.jwk import ECKey, OKPKey, RSAKey

from kith.base.caches import ByVersion

_KEY_BYTES = 8 << 10  # about what a parsed key takes
_MOST_BYTES = 8 << 20

AsymmetricKey = RSAKey | ECKey | OKPKey
READERS: dict[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {
    "RS256": RSAKey,
    "ES256": ECKey,
    "EdDSA": OKPKey,
    "rsa": RSAKey,
    "ec": ECKey,
    "ed25519": OKPKey,
    "ed448": OKPKey,
}


class KeyRing:
    """A cache of parsed keys. What a name stands for never changes, so entries never become wrong."""

    def __init__(self) -> None:
        self._parsed: ByVersion[AsymmetricKey] = ByVersion("signing_keys", _MOST_BYTES)

    def find(self, name: str) -> AsymmetricKey | None:
        return self._parsed.get(name)

    def keep(self, name: str, key: AsymmetricKey) -> AsymmetricKey:
        self._parsed.put(name, key, _KEY_BYTES)
        return key


async def parse(pem: str, kind: str) -> AsymmetricKey:
    """Parse a key in a thread: checking a long RSA key takes a while."""
    return await asyncio.to_thread(READERS[kind].import_key, pem)


def public_jwk(key: AsymmetricKey, alg: str, kid: str) -> dict[str, Any]:
    return {**key.as_dict(private=False), "use": "sig", "alg": alg, "kid": kid}
