"""The server's own signing keys and their rotation.

A key is published a week before it signs and a month after, so that clients which cache our keys can check every
signature.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Instant, command, insert_into, query
from kith.base.jobs import JobKind
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity import jose
from kith.identity.providers.oauth2.keys import used_keys
from kith.identity.providers.oauth2.keys.parsed_keys import AsymmetricKey, KeyRing, parse, public_jwk
from kith.identity.providers.oauth2.tables import SigningKey, signing_keys

SIGNS = timedelta(days=90)
KNOWN_BEFORE = timedelta(days=7)
KNOWN_AFTER = timedelta(days=30)
DEFAULT = "RS256"
OWN = ("RS256", "ES256", "EdDSA")
RSA_BITS = 2048
PLACE = "identity_oauth_keys.private_key"
_HOLD = "identity.oauth_keys"

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
_retire = command(
    update(signing_keys)
    .where(and_(signing_keys.c.alg == bindparam("alg"), signing_keys.c.signs_until > _now))
    .values(signs_until=_now, gone_at=bindparam("gone", type_=Instant()))
)
_forget = command(delete(signing_keys).where(signing_keys.c.kid == bindparam("kid")))
_gone = command(delete(signing_keys).where(signing_keys.c.gone_at <= _now))


class Rotate(msgspec.Struct):
    """Makes the next key in time, and deletes keys that are not needed any more."""


async def known_keys(work: Work) -> list[SigningKey]:
    """The keys that are published now."""
    return await work.db.all(_known, now=work.now)


async def find_by_kid(work: Work, kid: str) -> SigningKey | None:
    return await work.db.one(_by_kid, kid=kid, now=work.now)


async def ensure(work: Work, alg: str) -> SigningKey:
    found = await work.db.one(_signing, alg=alg, now=work.now)
    if found is not None:
        return found
    made = await generate(work, alg, work.now)
    async with work.aside() as aside:
        await aside.db.hold(_HOLD)
        found = await aside.db.one(_signing, alg=alg, now=work.now)
        if found is None:
            await _keep(aside, made)
    return found or made


async def rotate(work: Work, _payload: Rotate) -> None:
    """Make the next key for each algorithm in use, a week before it signs. The first is made when it must sign."""
    due: dict[str, SigningKey] = {}
    for alg in OWN:
        latest = await work.db.one(_latest, alg=alg)
        if latest is not None and latest.signs_until - KNOWN_BEFORE <= work.now:
            due[alg] = await generate(work, alg, max(latest.signs_until, work.now))
    await work.db.hold(_HOLD)
    for alg, made in due.items():
        latest = await work.db.one(_latest, alg=alg)
        if latest is None or latest.signs_until - KNOWN_BEFORE <= work.now:
            await _keep(work, made)
    await work.db.run(_gone, now=work.now)
    await used_keys.forget_gone(work)


async def algs_in_use(work: Work) -> set[str]:
    return {alg for alg in OWN if await work.db.one(_latest, alg=alg) is not None}


async def replace(work: Work, made: SigningKey) -> list[SigningKey]:
    """Sign with `made` from now on. Those that signed before, or were about to, stay known for a while: these."""
    await work.db.hold(_HOLD)
    old = [one for one in await known_keys(work) if one.alg == made.alg and one.signs_until > work.now]
    await work.db.run(_retire, alg=made.alg, now=work.now, gone=work.now + KNOWN_AFTER)
    await _keep(work, made)
    return old


async def forget(work: Work, kid: str) -> None:
    """Publish a key no longer, and believe nothing that it signed."""
    await work.db.run(_forget, kid=kid)


async def generate(work: Work, alg: str, begins: datetime) -> SigningKey:
    key = await asyncio.to_thread(_new_key, alg)
    kid = key.thumbprint()
    return SigningKey(
        kid=kid,
        alg=alg,
        private_key=work.find(Sealer).seal(key.as_pem(private=True).decode(), PLACE),
        public_jwk=public_jwk(key, alg, kid),
        signs_from=begins,
        signs_until=begins + SIGNS,
        gone_at=begins + SIGNS + KNOWN_AFTER,
    )


def _new_key(alg: str) -> AsymmetricKey:
    match alg:
        case "ES256":
            return jose.ECKey.generate_key("P-256")
        case "EdDSA":
            return jose.OKPKey.generate_key("Ed25519")
    return jose.RSAKey.generate_key(RSA_BITS)


async def _keep(work: Work, made: SigningKey) -> None:
    await work.db.run(_insert, **{name: getattr(made, name) for name in SigningKey.__struct_fields__})


async def private_key(work: Work, row: SigningKey) -> AsymmetricKey:
    ring = work.find(KeyRing)
    found = ring.find(row.kid)
    return found or ring.keep(row.kid, await parse(work.find(Sealer).open(row.private_key, PLACE), row.alg))


ROTATE: JobKind[Rotate] = JobKind(name="identity.oauth_keys", payload=Rotate, handler=rotate, outside=True)
