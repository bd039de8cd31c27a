"""The public keys of clients: registered with them, or published at their `jwks_uri`.

What is published is kept for a while. An unknown key, or a signature that does not fit, makes us look again, but not
often: anybody can send such.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.caches import ForAWhile
from kith.base.key_sizes import is_moderate_jwk
from kith.base.work import Work
from kith.identity import jose
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.fetching import NotFetched, fetch
from kith.identity.providers.oauth2.keys.parsed_keys import AsymmetricKey
from kith.identity.providers.oauth2.keys.signing import BadToken, read_header

ALGS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
MOST_KEYS = 20
MOST_LOOKS, LOOK_SECONDS = 6, 60.0  # at one address
_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


class ClientKeys:
    """The keys that clients publish, by address."""

    def __init__(self) -> None:
        self._kept: ForAWhile[tuple[AsymmetricKey, ...]] = ForAWhile("client_keys", seconds=600.0, most=1000)
        self._looked: ForAWhile[tuple[float, ...]] = ForAWhile("client_key_looks", seconds=LOOK_SECONDS, most=4096)
        self._under_way: dict[str, asyncio.Task[tuple[AsymmetricKey, ...]]] = {}

    def kept(self, url: str) -> tuple[AsymmetricKey, ...] | None:
        return self._kept.get(url)

    async def look(self, work: Work, url: str) -> tuple[AsymmetricKey, ...]:
        """What is published now. Who asks at the same time shares the answer; without one nothing changes."""
        task = self._under_way.get(url)
        if task is None:
            if not self._may_look(url):
                return self._kept.get(url) or ()
            task = self._under_way[url] = asyncio.ensure_future(self._fetch(work, url))
            task.add_done_callback(lambda _: self._under_way.pop(url, None))
        return await asyncio.shield(task)

    def _may_look(self, url: str) -> bool:
        """Counted here, whatever is limited elsewhere: anybody can make us look."""
        now = time.monotonic()
        looked = tuple(at for at in self._looked.get(url) or () if at > now - LOOK_SECONDS)
        if len(looked) >= MOST_LOOKS:
            return False
        self._looked.put(url, (*looked, now))
        return True

    async def _fetch(self, work: Work, url: str) -> tuple[AsymmetricKey, ...]:
        try:
            found = read_keys(msgspec.json.decode(await fetch(work, url)))
        except (NotFetched, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._kept.get(url) or ()
        self._kept.put(url, found)
        return found


def read_keys(jwks: Any) -> tuple[AsymmetricKey, ...]:
    """The keys of a set that can check signatures; what else is in it is left alone."""
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    found: list[AsymmetricKey] = []
    for one in listed[:MOST_KEYS] if isinstance(listed, list) else ():
        if not isinstance(one, dict) or one.get("use", "sig") != "sig" or not is_moderate_jwk(one):
            continue
        try:
            [key] = jose.KeySet.import_key_set({"keys": [one]}).keys
        except (jose.JoseError, ValueError, TypeError, KeyError):
            continue
        if not isinstance(key, jose.OctKey) and not key.is_private:
            found.append(key)
    return tuple(found)


async def read_signed(work: Work, client: Client, token: str, algs: Sequence[str]) -> dict[str, Any]:
    """The claims of a token that this client has signed. Call it before the first write."""
    header = read_header(token)
    alg = header.get("alg")
    if not isinstance(alg, str) or alg not in algs:
        raise BadToken("another algorithm")
    if not client.jwks_uri:
        claims = _checked(token, header, alg, read_keys(client.jwks))
    else:
        published = work.find(ClientKeys)
        kept = published.kept(client.jwks_uri)
        claims = _checked(token, header, alg, kept or ())
        if claims is None:
            claims = _checked(token, header, alg, await published.look(work, client.jwks_uri))
    if claims is None:
        raise BadToken("not signed by this client")
    return claims


def _checked(token: str, header: dict[str, Any], alg: str, known: Sequence[AsymmetricKey]) -> dict[str, Any] | None:
    """With the key of this `kid`; without one, with the only key there is. Never with a shared secret."""
    found = [one for one in known if one.kid == header["kid"]] if "kid" in header else list(known)
    if len(found) != 1 or found[0].key_type != _KINDS[alg[:2]]:
        return None
    try:
        return dict(jose.jwt.decode(token, found[0], algorithms=[alg]).claims)
    except (jose.JoseError, ValueError, TypeError, KeyError):
        return None
