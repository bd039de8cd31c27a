"""Keys as they are used: read from their text once, and kept."""

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
    """Keys that were read once. What is kept under a name never changes, so nothing here is ever out of date."""

    def __init__(self) -> None:
        self._parsed: ByVersion[AsymmetricKey] = ByVersion("signing_keys", _MOST_BYTES)

    def find(self, name: str) -> AsymmetricKey | None:
        return self._parsed.get(name)

    def keep(self, name: str, key: AsymmetricKey) -> AsymmetricKey:
        self._parsed.put(name, key, _KEY_BYTES)
        return key


async def parse(pem: str, kind: str) -> AsymmetricKey:
    """Beside the loop: a long RSA key is checked while it is read."""
    return await asyncio.to_thread(READERS[kind].import_key, pem)


def public_jwk(key: AsymmetricKey, alg: str, kid: str) -> dict[str, Any]:
    return {**key.as_dict(private=False), "use": "sig", "alg": alg, "kid": kid}
