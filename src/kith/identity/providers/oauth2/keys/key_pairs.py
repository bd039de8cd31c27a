"""Key pairs that an administrator named for a provider."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from kith.base import crypto
from kith.base.work import Work
from kith.identity import jose
from kith.identity.crypto import keypairs
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.keys.parsed_keys import KINDS, AsymmetricKey, KeyRing, parse, public_jwk

_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}


class Pair(msgspec.Struct, frozen=True):
    """A key pair that an administrator named for a provider, and its certificate."""

    key: AsymmetricKey
    alg: str
    kid: str
    certificate: str


async def pair_of(work: Work, client: Client) -> Pair | None:
    """None without one, and for a client that wants another algorithm than its."""
    if client.signing_key is None:
        return None
    row = await keypairs.find(work, client.signing_key)
    if row is None or not row.key_data or row.key_type not in KINDS:
        return None
    name = hashlib.sha256(row.key_data.encode()).hexdigest()
    ring = work.find(KeyRing)
    key = ring.find(name) or ring.keep(name, await parse(keypairs.open_key(work, row.key_data), row.key_type))
    pair = Pair(key, _alg_by(key), key.thumbprint(), row.certificate_data)
    return pair if client.signed_with in ("", pair.alg) else None


def published(pair: Pair) -> dict[str, Any]:
    return public_jwk(pair.key, pair.alg, pair.kid) | certificate_chain(pair.certificate)


def _alg_by(key: AsymmetricKey) -> str:
    if isinstance(key, jose.ECKey):
        return _CURVES[key.curve_name]
    return "EdDSA" if isinstance(key, jose.OKPKey) else "RS256"


def certificate_chain(certificate_data: str) -> dict[str, Any]:
    certificates = crypto.x509.load_pem_x509_certificates(certificate_data.encode())
    first = certificates[0]

    def told(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    return {
        "x5c": [base64.b64encode(one.public_bytes(crypto.Encoding.DER)).decode() for one in certificates],
        "x5t": told(first.fingerprint(crypto.hashes.SHA1())),  # a name, not a promise
        "x5t#S256": told(first.fingerprint(crypto.hashes.SHA256())),
    }
