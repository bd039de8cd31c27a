"""Keys of actors elsewhere: those that were used lately are kept ready, the others are read or fetched."""

from __future__ import annotations

import asyncio

import msgspec
from sqlalchemy import bindparam, select

from kith.base.caches import ForAWhile
from kith.base.db import Session, query
from kith.base.errors import Forbidden, Unavailable
from kith.base.work import Works
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.keys.remote_keys import read_pem
from kith.federation.people.fetching import ActorFetches, fetch_key
from kith.federation.people.store import find_signing_key
from kith.federation.people.tables import actor_keys
from kith.federation.signatures.key_ids import KeyId
from kith.federation.signatures.received import PublicKey
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown
from kith.federation.vocabulary.incoming import DocumentRefused
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId

__all__ = ["HeldKey", "KnownKeys"]

SECONDS = 60.0
MOST = 10_000
AGAIN_SECONDS = 20.0  # in which a key is fetched again once at most

_find = query(
    select(actor_keys.c.account_id, actor_keys.c.public_key, accounts.c.uri, accounts.c.domain)
    .select_from(actor_keys.join(accounts, accounts.c.id == actor_keys.c.account_id))
    .where(actor_keys.c.id == bindparam("key")),
    tuple,
)


class HeldKey(msgspec.Struct, frozen=True):
    """A key, and whose it is."""

    account_id: AccountId
    actor: str
    domain: str
    key: PublicKey


class KnownKeys:
    """What is kept in memory is believed for a minute; a signature that fails is checked against what is new, too."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._held: ForAWhile[HeldKey] = ForAWhile("remote_keys", seconds=SECONDS, most=MOST)
        self._again: ForAWhile[bool] = ForAWhile("keys_fetched_again", seconds=AGAIN_SECONDS, most=MOST)
        self._fetching: dict[str, asyncio.Task[HeldKey]] = {}

    async def find(self, key_id: KeyId) -> HeldKey | None:
        """From memory or from the database."""
        found = self._held.get(key_id.id)
        return found if found is not None else await self.read(key_id)

    async def read(self, key_id: KeyId) -> HeldKey | None:
        """As the database has it now."""
        work = self._works.open()
        try:
            found = await _read(work.db, key_id.id)
        finally:
            await work.rollback()
        if found is not None:
            self._held.put(key_id.id, found)
        return found

    async def fetch(self, key_id: KeyId) -> HeldKey:
        """From where it is at home; those who want the same one at the same time wait for one request."""
        fetching = self._fetching.get(key_id.id)
        if fetching is None:
            fetching = self._fetching[key_id.id] = asyncio.create_task(self._fetch(key_id))
            fetching.add_done_callback(lambda _: self._fetching.pop(key_id.id, None))
        return await asyncio.shield(fetching)

    async def fetch_again(self, key_id: KeyId) -> HeldKey | None:
        """None where that was done a moment ago: nobody makes us ask somebody over and over."""
        if self._again.get(key_id.id):
            return None
        self._again.put(key_id.id, True)
        self._may_ask(key_id)  # that it was fetched once is no reason against it
        return await self.fetch(key_id)

    def _may_ask(self, key_id: KeyId) -> None:
        """Whoever fetches people remembers which keys they were asked for, and does not ask again so soon."""
        self._works.services[ActorFetches].keys.put(key_id.id, False)

    async def _fetch(self, key_id: KeyId) -> HeldKey:
        if self._works.settings.is_own_domain(key_id.host):
            raise _not_found(key_id)  # nobody who lives here writes to us from elsewhere
        try:
            account, key = await fetch_key(self._works, key_id.id, FetchChain())
        except FetchFailed as failed:
            if failed.reason == "blocked":
                raise Forbidden from failed
            if failed.may_pass:
                self._may_ask(key_id)
                raise Unavailable(f"Failed to fetch remote data: {shown(str(failed))}") from failed
            raise _not_found(key_id) from failed
        except DocumentRefused as refused:
            raise _not_found(key_id) from refused
        found = HeldKey(account.id, account.uri, account.domain, key)
        self._held.put(key_id.id, found)
        return found


async def _read(db: Session, key_id: str) -> HeldKey | None:
    row = await db.one(_find, key=key_id)
    if row is None:
        named = await find_signing_key(db, key_id)
        return await _read(db, named.id) if named is not None and named.id != key_id else None
    account_id, pem, uri, domain = row
    return HeldKey(account_id, uri, domain, read_pem(pem))


def _not_found(key_id: KeyId) -> SignatureRefused:
    return SignatureRefused(Fault.KEY_ID, f"Public key not found for key {shown(key_id.id)}")
