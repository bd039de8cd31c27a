"""New signing keys because an operator wants them now; old ones stay published for whoever must still check them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, or_, select

from kith.base.db import query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.applications.tables import applications
from kith.identity.caller import ApiCaller
from kith.identity.crypto import keypairs
from kith.identity.providers.family import providers
from kith.identity.providers.kinds import oauth, openid
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.keys import server_keys, used_keys
from kith.identity.providers.oauth2.keys.key_pairs import Pair, pair_of, published
from kith.identity.providers.oauth2.keys.signing import alg_of_own, secret_signs
from kith.identity.rest import operations
from kith.identity.rest.record_store import RecordStore

SYSTEM = ApiCaller(id=0, username="kith", role="owner", permissions=None, way="system")
VALID_DAYS = 3650
UNNAMED = "provider"  # a name may be left out
_RECORDS: dict[str, RecordStore[Any]] = {"oauth2": RecordStore(oauth.RESOURCE), "openid": RecordStore(openid.RESOURCE)}
_PAIRS = RecordStore(keypairs.RESOURCE)
_ORDERS = {"rsa": "rsa", "ec": "ecdsa", "ed25519": "ed25519", "ed448": "ed448"}  # as they are generated
_KINDS = ("oauth2", "openid", "applicationgateway")

_all = query(select(providers.c.id).where(providers.c.kind.in_(_KINDS)).order_by(providers.c.id), int)
_named = query(
    select(providers.c.id)
    .outerjoin(applications, applications.c.provider == providers.c.id)
    .where(providers.c.kind.in_(_KINDS))
    .where(or_(applications.c.slug == bindparam("name"), providers.c.name == bindparam("name")))
    .order_by(providers.c.id),
    int,
)


class Rotated(msgspec.Struct, frozen=True):
    """A new key. `providers` sign with it, by name; none for the server's own, with which all others sign."""

    providers: list[str]
    alg: str
    new: str
    old: list[str]
    known_until: datetime | None  # None where they are not believed any more


class Rotation(msgspec.Struct, frozen=True):
    """What was done; `secret` are providers whose client's secret signs, which is no key to rotate."""

    rotated: list[Rotated]
    secret: list[str]


async def rotate(work: Work, name: str | None, *, leaked: bool = False) -> Rotation:
    """New keys for the providers of this name (or of the application at this slug), or for all and the server itself.

    A provider without a key pair signs with the server's own key, which is then replaced for all of them. `leaked`:
    somebody else may have the old keys, so nothing that they signed is believed any more.
    """
    found = await _clients(work, name)
    if leaked:
        found = _with_shared(found, await _clients(work, None))
    secret = [client.name for client in found if secret_signs(client)]
    by_pair: dict[str, list[tuple[Client, Pair]]] = {}
    algs = set[str]()
    for client in found:
        pair = await pair_of(work, client)
        if secret_signs(client):
            continue
        if pair is not None and client.signing_key is not None:
            by_pair.setdefault(client.signing_key, []).append((client, pair))
        else:
            algs.add(alg_of_own(client))
    if name is None:
        algs |= await server_keys.algs_in_use(work)
    fresh = {alg: await server_keys.generate(work, alg, work.now) for alg in sorted(algs)}
    drafts = [(theirs, await _generate(work, theirs)) for theirs in by_pair.values()]
    done = [await _replace_pair(work, theirs, draft) for theirs, draft in drafts]
    for alg, made in fresh.items():
        old = await server_keys.replace(work, made)
        done.append(Rotated([], alg, made.kid, [one.kid for one in old], work.now + server_keys.KNOWN_AFTER))
    if leaked:
        done = [await _take_back(work, one) for one in done]
    return Rotation(done, secret)


def _with_shared(some: Sequence[Client], all_of_them: Sequence[Client]) -> list[Client]:
    """These, and all that sign with the same key pairs."""
    pairs = {client.signing_key for client in some} - {None}
    known = {client.provider_id for client in some}
    return [*some, *(one for one in all_of_them if one.signing_key in pairs and one.provider_id not in known)]


async def _take_back(work: Work, rotated: Rotated) -> Rotated:
    for kid in rotated.old:
        await server_keys.forget(work, kid)
        await used_keys.forget(work, kid)
    return msgspec.structs.replace(rotated, known_until=None)


async def _clients(work: Work, name: str | None) -> list[Client]:
    ids = await (work.db.all(_all) if name is None else work.db.all(_named, name=name))
    found = [await clients.find_by_provider(work, id) for id in dict.fromkeys(ids)]
    if name is not None and not ids:
        raise NotFound(f"there is no OAuth or OpenID provider {name}, and no application with one")
    return [client for client in found if client is not None]


async def _generate(work: Work, theirs: Sequence[tuple[Client, Pair]]) -> dict[str, str]:
    from kith.identity.crypto.certificates import generate  # noqa: PLC0415 - loaded when first used

    client, _ = theirs[0]
    row = await keypairs.find(work, client.signing_key or "")
    order = _ORDERS[row.key_type or ""] if row is not None else "rsa"
    title = (client.name.strip() or UNNAMED).encode()[:40].decode(errors="ignore")
    certificate, key = await asyncio.to_thread(generate, title, [], VALID_DAYS, order, work.now)
    name = f"{title} ({client.provider_id}) {work.now:%Y-%m-%d %H:%M:%S}.{work.now:%f}"  # names are unique
    return {"name": name, "certificate_data": certificate, "key_data": key}


async def _replace_pair(work: Work, theirs: Sequence[tuple[Client, Pair]], draft: dict[str, str]) -> Rotated:
    """Providers that share a key pair share the new one."""
    record = await operations.create(_PAIRS, work, SYSTEM, draft)
    told, until = [], work.now
    for client, pair in theirs:
        await used_keys.keep(work, client, published(pair))
        await operations.update(
            _RECORDS[client.kind], work, SYSTEM, client.provider_id, {"signing_key": record.pk}, whole=False
        )
        told.append(client.name)
        until = max(until, work.now + used_keys.life_of(client))
    new = await pair_of(work, msgspec.structs.replace(theirs[0][0], signing_key=record.pk))
    assert new is not None  # noqa: S101 - it was made a moment ago
    return Rotated(told, new.alg, new.kid, [theirs[0][1].kid], until)
