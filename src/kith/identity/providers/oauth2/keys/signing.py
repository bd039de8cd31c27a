"""Signing ID tokens: with the server's keys, with a provider's key pair, or with the client's secret.

The key is found by `kid` only; other key references in a token are ignored.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity import jose
from kith.identity.crypto.facts import KeyPairDeleted
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.keys import used_keys
from kith.identity.providers.oauth2.keys.key_pairs import pair_of, published
from kith.identity.providers.oauth2.keys.parsed_keys import KINDS, AsymmetricKey, parse
from kith.identity.providers.oauth2.keys.server_keys import DEFAULT, OWN, ensure, find_by_kid, known_keys, private_key

_HASHES = {"256": "sha256", "384": "sha384", "512": "sha512"}


class BadToken(Exception):  # noqa: N818 - the token is
    """The token was not signed by us for this client, or is not of the expected type."""


async def ready(work: Work, client: Client) -> None:
    """Make sure that the signing key exists, is parsed, and stays published for as long as what it signs lives.

    It can take a while: call it before the first write.
    """
    if secret_signs(client):
        return
    pair = await pair_of(work, client)
    if pair is not None:
        await used_keys.note(work, client, published(pair))
        return
    row = await ensure(work, alg_of_own(client))
    await private_key(work, row)
    await used_keys.note(work, client, row.public_jwk)


async def keep_current(work: Work, provider_id: int) -> None:
    """Keep the key published that signs for a provider, which is about to have another."""
    client = await clients.find_by_provider(work, provider_id)
    if client is None or secret_signs(client):
        return
    pair = await pair_of(work, client)
    if pair is not None:
        await used_keys.keep(work, client, published(pair))
        return
    for row in await known_keys(work):
        if row.alg == alg_of_own(client) and row.signs_from <= work.now:
            await used_keys.keep(work, client, row.public_jwk)


async def pair_deleted(work: Work, fact: KeyPairDeleted) -> None:
    """End what a key signed together with its pair: deleting it takes back a key that somebody else may have."""
    if fact.key_type not in KINDS:
        return
    try:
        kid = (await parse(fact.public_key, fact.key_type)).thumbprint()
    except (KeyError, ValueError):
        return  # on a curve that no token is signed with
    await used_keys.forget(work, kid)


async def sign(work: Work, client: Client, claims: dict[str, Any], *, typ: str = "JWT") -> str:
    header: dict[str, Any] = {"typ": typ}
    if secret_signs(client):
        return jose.jwt.encode(header | {"alg": "HS256"}, claims, _secret_key(client), algorithms=["HS256"])
    pair = await pair_of(work, client)
    if pair is not None:
        return jose.jwt.encode(header | {"alg": pair.alg, "kid": pair.kid}, claims, pair.key, algorithms=[pair.alg])
    alg = alg_of_own(client)
    row = await ensure(work, alg)
    return jose.jwt.encode(
        header | {"alg": alg, "kid": row.kid}, claims, await private_key(work, row), algorithms=[alg]
    )


async def verify(work: Work, client: Client, token: str) -> dict[str, Any]:
    """The claims of a token that we signed for this client, even if it has expired."""
    alg, key = await _key_for(work, client, token)
    try:
        claims = jose.jwt.decode(token, key, algorithms=[alg]).claims
    except (jose.JoseError, ValueError, TypeError) as error:
        raise BadToken("not signed by us") from error
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != client.issuer(work.settings.base_url) or client.client_id not in named:
        raise BadToken("not for this client")
    return dict(claims)


async def alg_of(work: Work, client: Client) -> str:
    if secret_signs(client):
        return "HS256"
    pair = await pair_of(work, client)
    return alg_of_own(client) if pair is None else pair.alg


def half_hash(alg: str, text: str) -> str:
    """`at_hash` and `c_hash`: the left half of the hash that belongs to the algorithm."""
    digest = hashlib.new(_HASHES.get(alg[-3:], "sha512"), text.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


async def public_keys(work: Work, client: Client | None) -> dict[str, Any]:
    """The JWKS for this client, or of the server: the key that signs, and those that did for as long as it matters."""
    told = await _current_keys(work, client)
    if client is not None and client.provider_id is not None:
        known = {one["kid"] for one in told}
        used = await used_keys.of_provider(work, client.provider_id)
        told += [one.public_jwk for one in used if one.kid not in known]
    return {"keys": told}


async def _current_keys(work: Work, client: Client | None) -> list[dict[str, Any]]:
    if client is not None and secret_signs(client):
        return []
    pair = await pair_of(work, client) if client is not None else None
    if pair is not None:
        return [published(pair)]
    await ensure(work, DEFAULT if client is None else alg_of_own(client))
    return [row.public_jwk for row in await known_keys(work)]


def read_header(token: str) -> dict[str, Any]:
    """The header of a token, without verification; only plain signed tokens are accepted."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > 16_384 or not token.isascii():
        raise BadToken("not a signed token")
    try:
        header = msgspec.json.decode(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise BadToken("not a signed token") from error
    if not isinstance(header, dict):
        raise BadToken("not a signed token")
    return header


def read_unchecked(token: str) -> dict[str, Any]:
    """The claims of a token, without verification, to find out who can verify it."""
    read_header(token)
    body = token.split(".")[1]
    try:
        claims = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise BadToken("not a signed token") from error
    return claims if isinstance(claims, dict) else {}


def secret_signs(client: Client) -> bool:
    """Whether the client's secret signs. Of a client that registered itself we only have the hash, so a key does."""
    return client.alg == "HS256" and not client.signed_with and bool(client.secret)


def _secret_key(client: Client) -> jose.OctKey:
    return jose.OctKey.import_key((client.secret or "").encode())


def alg_of_own(client: Client) -> str:
    alg = client.signed_with or client.alg
    return alg if alg in OWN else DEFAULT


async def _key_for(work: Work, client: Client, token: str) -> tuple[str, AsymmetricKey | jose.OctKey]:
    """Keys have names, which decide; what a secret signed names none."""
    kid = read_header(token).get("kid")
    if kid is None and secret_signs(client):
        return "HS256", _secret_key(client)
    if not isinstance(kid, str) or "\0" in kid or len(kid) > 64:
        raise BadToken("unknown key")
    pair = None if secret_signs(client) else await pair_of(work, client)
    if pair is not None and kid == pair.kid:
        return pair.alg, pair.key
    used = await used_keys.find(work, client.provider_id, kid) if client.provider_id is not None else None
    if used is not None:
        return used.alg, used_keys.public_key(used)
    row = await find_by_kid(work, kid) if pair is None and not secret_signs(client) else None
    if row is None:
        raise BadToken("unknown key")
    return row.alg, await private_key(work, row)
