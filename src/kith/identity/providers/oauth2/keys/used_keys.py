"""Which keys have signed for a provider. They stay published for as long as what they signed lives.

An administrator can choose another key pair, or none, at any time; clients must still be able to check what they hold.
Whoever deletes a key pair ends what it signed: that is how a key is taken back which somebody else may have.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, case, delete, select

from kith.base.db import Dangling, Instant, command, query, upsert
from kith.base.work import Work
from kith.identity import jose
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.keys.parsed_keys import AsymmetricKey, KeyRing
from kith.identity.providers.oauth2.tables import used_keys

LEAST_KNOWN = timedelta(days=30)  # ID tokens are hints long after they have expired
AHEAD = timedelta(days=1)  # how much longer than needed, so that not every token is a write
MOST = 50  # published for one provider


class UsedKey(msgspec.Struct):
    """A public key, as it was published, and how long it still is."""

    kid: str
    alg: str
    public_jwk: dict[str, Any]
    known_until: datetime


_now = bindparam("now", type_=Instant())
_columns = [used_keys.c[name] for name in UsedKey.__struct_fields__]
_new = upsert(used_keys).values(
    **{name: bindparam(name, type_=used_keys.c[name].type) for name in ("provider_id", *UsedKey.__struct_fields__)}
)
_later = case(
    (used_keys.c.known_until > _new.excluded.known_until, used_keys.c.known_until), else_=_new.excluded.known_until
)
_note = command(
    _new.on_conflict_do_update(
        index_elements=[used_keys.c.provider_id, used_keys.c.kid],
        set_={"public_jwk": _new.excluded.public_jwk, "known_until": _later},
    )
)
_of_provider = query(
    select(*_columns)
    .where(and_(used_keys.c.provider_id == bindparam("provider"), used_keys.c.known_until > _now))
    .order_by(used_keys.c.known_until.desc(), used_keys.c.kid)
    .limit(MOST),
    UsedKey,
)
_one = query(
    select(*_columns).where(
        and_(
            used_keys.c.provider_id == bindparam("provider"),
            used_keys.c.kid == bindparam("kid"),
            used_keys.c.known_until > _now,
        )
    ),
    UsedKey,
)
_forget = command(delete(used_keys).where(used_keys.c.kid == bindparam("kid")))
_gone = command(delete(used_keys).where(used_keys.c.known_until <= _now))


async def note(work: Work, client: Client, published: dict[str, Any]) -> None:
    """Store that this key signs for the provider. Call it before the first write."""
    if client.provider_id is None:
        return
    ring, name = work.find(KeyRing), (client.provider_id, published["kid"], life_of(client))
    if ring.is_noted(name):
        return
    try:
        async with work.aside() as aside:
            await keep(aside, client, published)
    except Dangling:  # the provider was deleted a moment ago
        return
    ring.note(name)


async def keep(work: Work, client: Client, published: dict[str, Any]) -> None:
    await work.db.run(
        _note,
        provider_id=client.provider_id,
        kid=published["kid"],
        alg=published["alg"],
        public_jwk=published,
        known_until=work.now + life_of(client),
    )


def life_of(client: Client) -> timedelta:
    return max(LEAST_KNOWN, timedelta(seconds=client.access_seconds or 0)) + AHEAD


async def of_provider(work: Work, provider_id: int) -> list[UsedKey]:
    return await work.db.all(_of_provider, provider=provider_id, now=work.now)


async def find(work: Work, provider_id: int, kid: str) -> UsedKey | None:
    return await work.db.one(_one, provider=provider_id, kid=kid, now=work.now)


def public_key(used: UsedKey) -> AsymmetricKey:
    [key] = jose.KeySet.import_key_set({"keys": [used.public_jwk]}).keys
    if isinstance(key, jose.OctKey):
        raise TypeError("a published key is never a secret")
    return key


async def forget(work: Work, kid: str) -> None:
    """Publish a key no longer, and believe nothing that it signed: somebody else may have it."""
    await work.db.run(_forget, kid=kid)


async def forget_gone(work: Work) -> None:
    await work.db.run(_gone, now=work.now)
