"""What ID tokens are signed with: the server's own keys, a key pair an administrator named, or the client's secret.

A key of our own is published a week before it signs and a month after, so nobody who keeps our keys for a while meets
a signature they cannot check. A token says by `kid` which key it is; where else it would have us look is not read.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import warnings
from datetime import datetime, timedelta
from typing import Any

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from joserfc import jwt
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from sqlalchemy import and_, bindparam, delete, select

from kith.base.caches import ByVersion
from kith.base.db import Instant, command, insert_into, query
from kith.base.jobs import Kind
from kith.base.work import Work
from kith.identity.crypto import keypairs
from kith.identity.providers.oauth2.clients import Client
from kith.identity.providers.oauth2.tables import SigningKey, signing_keys
from kith.identity.sealing import Sealer

# The name is old, but it is the one that clients know (RFC 9864 has others); a client's secret is as long as it is.
warnings.filterwarnings("ignore", category=SecurityWarning)

SIGNS = timedelta(days=90)
KNOWN_BEFORE = timedelta(days=7)
KNOWN_AFTER = timedelta(days=30)
DEFAULT = "RS256"
OWN = ("RS256", "ES256", "EdDSA")
RSA_BITS = 2048
PLACE = "identity_oauth_keys.private_key"
_HOLD = "identity.oauth_keys"
_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_HASHES = {"256": "sha256", "384": "sha384", "512": "sha512"}
_KEY_BYTES = 8 << 10  # about what a parsed key takes
_MOST_BYTES = 8 << 20

AsymmetricKey = RSAKey | ECKey | OKPKey
_READERS: dict[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {
    "RS256": RSAKey, "ES256": ECKey, "EdDSA": OKPKey, "rsa": RSAKey, "ec": ECKey, "ed25519": OKPKey, "ed448": OKPKey,
}  # fmt: skip

_now = bindparam("now", type_=Instant())
_insert = command(insert_into(signing_keys))
_signing = query(
    select(signing_keys)
    .where(
        and_(
            signing_keys.c.alg == bindparam("alg"),
            signing_keys.c.signs_from <= _now,
            signing_keys.c.signs_until > _now,
        )
    )
    .order_by(signing_keys.c.signs_from.desc(), signing_keys.c.kid)
    .limit(1),
    SigningKey,
)
_latest = query(
    select(signing_keys)
    .where(signing_keys.c.alg == bindparam("alg"))
    .order_by(signing_keys.c.signs_until.desc(), signing_keys.c.kid)
    .limit(1),
    SigningKey,
)
_known = query(
    select(signing_keys).where(signing_keys.c.gone_at > _now).order_by(signing_keys.c.signs_from, signing_keys.c.kid),
    SigningKey,
)
_by_kid = query(
    select(signing_keys).where(and_(signing_keys.c.kid == bindparam("kid"), signing_keys.c.gone_at > _now)), SigningKey
)
_gone = command(delete(signing_keys).where(signing_keys.c.gone_at <= _now))


class BadToken(Exception):  # noqa: N818 - the token is
    """Not signed by us for this client, or not what it should be."""


class KeyRing:
    """Keys that were read once. What is kept under a name never changes, so nothing here is ever out of date."""

    def __init__(self) -> None:
        self._parsed: ByVersion[AsymmetricKey] = ByVersion("signing_keys", _MOST_BYTES)

    def find(self, name: str) -> AsymmetricKey | None:
        return self._parsed.get(name)

    def keep(self, name: str, key: AsymmetricKey) -> AsymmetricKey:
        self._parsed.put(name, key, _KEY_BYTES)
        return key


class Pair(msgspec.Struct, frozen=True):
    """A key pair that an administrator named for a provider, and its certificate."""

    key: AsymmetricKey
    alg: str
    kid: str
    certificate: str


class Rotate(msgspec.Struct):
    """The next key in time, and no key longer than it is needed."""


async def ready(work: Work, client: Client) -> None:
    """See to it that the key exists and is read. Both take a while: ask before this work's first write."""
    if not secret_signs(client) and await _pair_of(work, client) is None:
        await _private(work, await _ensure(work, alg_of_own(client)))


async def sign(work: Work, client: Client, claims: dict[str, Any], *, typ: str = "JWT") -> str:
    header: dict[str, Any] = {"typ": typ}
    if secret_signs(client):
        return jwt.encode(header | {"alg": "HS256"}, claims, _secret_key(client), algorithms=["HS256"])
    pair = await _pair_of(work, client)
    if pair is not None:
        return jwt.encode(header | {"alg": pair.alg, "kid": pair.kid}, claims, pair.key, algorithms=[pair.alg])
    alg = alg_of_own(client)
    row = await work.db.one(_signing, alg=alg, now=work.now) or await _ensure(work, alg)
    return jwt.encode(header | {"alg": alg, "kid": row.kid}, claims, await _private(work, row), algorithms=[alg])


async def verify(work: Work, client: Client, token: str) -> dict[str, Any]:
    """The claims of a token we once signed for this client; when it ran out does not matter here."""
    alg, key = await _key_for(work, client, token)
    try:
        claims = jwt.decode(token, key, algorithms=[alg]).claims
    except (JoseError, ValueError, TypeError) as error:
        raise BadToken("not signed by us") from error
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != client.issuer(work.settings.base_url) or client.client_id not in named:
        raise BadToken("not for this client")
    return dict(claims)


async def alg_of(work: Work, client: Client) -> str:
    if secret_signs(client):
        return "HS256"
    pair = await _pair_of(work, client)
    return alg_of_own(client) if pair is None else pair.alg


def half_hash(alg: str, text: str) -> str:
    """`at_hash` and `c_hash`: the left half of the digest that goes with the signature."""
    digest = hashlib.new(_HASHES.get(alg[-3:], "sha512"), text.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


async def public_keys(work: Work, client: Client | None) -> dict[str, Any]:
    """The JWKS: what checks the tokens of this client, or of all that the server itself signs for."""
    if client is not None and secret_signs(client):
        return {"keys": []}
    pair = await _pair_of(work, client) if client is not None else None
    if pair is not None:
        return {"keys": [_public(pair.key, pair.alg, pair.kid) | _chain(pair.certificate)]}
    await _ensure(work, DEFAULT if client is None else alg_of_own(client))
    return {"keys": [row.public_jwk for row in await work.db.all(_known, now=work.now)]}


def read_header(token: str) -> dict[str, Any]:
    """What a token says of itself, believed by nobody; anything but a plain signed one is refused."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > 16_384 or not token.isascii():
        raise BadToken("not a signed token")
    try:
        header = msgspec.json.decode(base64.urlsafe_b64decode(parts[0] + "=" * (-len(parts[0]) % 4)))
    except (ValueError, msgspec.DecodeError) as error:
        raise BadToken("not a signed token") from error
    if not isinstance(header, dict):
        raise BadToken("not a signed token")
    return header


def read_unchecked(token: str) -> dict[str, Any]:
    """The claims of a token that nobody has checked yet: good for finding out who could check it."""
    read_header(token)
    body = token.split(".")[1]
    try:
        claims = msgspec.json.decode(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, msgspec.DecodeError) as error:
        raise BadToken("not a signed token") from error
    return claims if isinstance(claims, dict) else {}


def secret_signs(client: Client) -> bool:
    """A client that registered itself has a secret we do not know any more, so a key of ours signs for it."""
    return client.alg == "HS256" and bool(client.secret)


def _secret_key(client: Client) -> OctKey:
    return OctKey.import_key((client.secret or "").encode())


def alg_of_own(client: Client) -> str:
    return client.alg if client.alg in OWN else DEFAULT


async def _key_for(work: Work, client: Client, token: str) -> tuple[str, AsymmetricKey | OctKey]:
    header = read_header(token)
    kid = header.get("kid")
    if secret_signs(client):
        return "HS256", _secret_key(client)
    pair = await _pair_of(work, client)
    if pair is not None:
        if kid != pair.kid:
            raise BadToken("unknown key")
        return pair.alg, pair.key
    if not isinstance(kid, str) or "\0" in kid:
        raise BadToken("unknown key")
    row = await work.db.one(_by_kid, kid=kid, now=work.now)
    if row is None:
        raise BadToken("unknown key")
    return row.alg, await _private(work, row)


# The server's own


async def _ensure(work: Work, alg: str) -> SigningKey:
    found = await work.db.one(_signing, alg=alg, now=work.now)
    if found is not None:
        return found
    made = await _generate(work, alg, work.now)
    async with work.aside() as aside:
        await aside.db.hold(_HOLD)
        found = await aside.db.one(_signing, alg=alg, now=work.now)
        if found is None:
            await _keep(aside, made)
    return found or made


async def rotate(work: Work, _payload: Rotate) -> None:
    """A next key for every kind that is in use, a week before it is its turn."""
    due: dict[str, SigningKey] = {}
    for alg in OWN:
        latest = await work.db.one(_latest, alg=alg)
        if latest is None and alg != DEFAULT:
            continue
        if latest is None or latest.signs_until - KNOWN_BEFORE <= work.now:
            begins = work.now if latest is None else max(latest.signs_until, work.now)
            due[alg] = await _generate(work, alg, begins)
    await work.db.hold(_HOLD)
    for alg, made in due.items():
        latest = await work.db.one(_latest, alg=alg)
        if latest is None or latest.signs_until - KNOWN_BEFORE <= work.now:
            await _keep(work, made)
    await work.db.run(_gone, now=work.now)


async def _generate(work: Work, alg: str, begins: datetime) -> SigningKey:
    key = await asyncio.to_thread(_new_key, alg)
    kid = key.thumbprint()
    return SigningKey(
        kid=kid, alg=alg, private_key=work.find(Sealer).seal(key.as_pem(private=True).decode(), PLACE),
        public_jwk=_public(key, alg, kid), signs_from=begins, signs_until=begins + SIGNS,
        gone_at=begins + SIGNS + KNOWN_AFTER,
    )  # fmt: skip


def _new_key(alg: str) -> AsymmetricKey:
    match alg:
        case "ES256":
            return ECKey.generate_key("P-256")
        case "EdDSA":
            return OKPKey.generate_key("Ed25519")
    return RSAKey.generate_key(RSA_BITS)


async def _keep(work: Work, made: SigningKey) -> None:
    await work.db.run(_insert, **{name: getattr(made, name) for name in SigningKey.__struct_fields__})


async def _private(work: Work, row: SigningKey) -> AsymmetricKey:
    ring = work.find(KeyRing)
    found = ring.find(row.kid)
    return found or ring.keep(row.kid, await _parse(work.find(Sealer).open(row.private_key, PLACE), row.alg))


async def _parse(pem: str, kind: str) -> AsymmetricKey:
    """Beside the loop: a long RSA key is checked while it is read."""
    return await asyncio.to_thread(_READERS[kind].import_key, pem)


# An administrator's


async def _pair_of(work: Work, client: Client) -> Pair | None:
    if client.signing_key is None:
        return None
    row = await keypairs.find(work, client.signing_key)
    if row is None or not row.key_data or row.key_type not in _READERS:
        return None
    name = hashlib.sha256(row.key_data.encode()).hexdigest()
    ring = work.find(KeyRing)
    key = ring.find(name) or ring.keep(name, await _parse(keypairs.open_key(work, row.key_data), row.key_type))
    return Pair(key, _alg_by(key), key.thumbprint(), row.certificate_data)


def _alg_by(key: AsymmetricKey) -> str:
    if isinstance(key, ECKey):
        return _CURVES[key.curve_name]
    return "EdDSA" if isinstance(key, OKPKey) else "RS256"


def _public(key: AsymmetricKey, alg: str, kid: str) -> dict[str, Any]:
    return {**key.as_dict(private=False), "use": "sig", "alg": alg, "kid": kid}


def _chain(certificate_data: str) -> dict[str, Any]:
    certificates = x509.load_pem_x509_certificates(certificate_data.encode())
    first = certificates[0]

    def told(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    return {
        "x5c": [base64.b64encode(one.public_bytes(Encoding.DER)).decode() for one in certificates],
        "x5t": told(first.fingerprint(hashes.SHA1())),  # noqa: S303 - a name, not a promise
        "x5t#S256": told(first.fingerprint(hashes.SHA256())),
    }


ROTATE: Kind[Rotate] = Kind(name="identity.oauth_keys", payload=Rotate, handler=rotate, outside=True)
