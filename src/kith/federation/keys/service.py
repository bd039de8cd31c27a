"""The keys of our actors: made once, sealed at rest, replaced on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec

from kith.base import crypto
from kith.base.caches import ByVersion
from kith.base.db import writing
from kith.base.errors import NotFound
from kith.base.settings import Settings
from kith.base.work import Work
from kith.federation.keys import store
from kith.federation.keys.facts import ActorKeyRotated
from kith.federation.keys.key_pairs import new_pair, read_private_key
from kith.federation.keys.tables import ActorKey
from kith.federation.signatures.signing import Signer
from kith.identity.for_social import Sealer
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged
from kith.social.ids import AccountId

PLACE = "federation_keys.private_key"
# How long a key is kept that is not in use any more: until what was signed with it, or what tells of its end, has
# arrived everywhere or was given up.
FAREWELL = timedelta(days=3)
_AT_ONCE = 2
_KEY_BYTES = 8 << 10  # about what a parsed key takes
_MOST_BYTES = 8 << 20


class ActorKeys:
    """Parsed private keys, and which key pairs are being made, so that two who need the same one wait for one."""

    def __init__(self, new_pair: Callable[[], Awaitable[tuple[str, str]]] = new_pair) -> None:
        self._new_pair = new_pair
        self._parsed: ByVersion[crypto.RSAPrivateKey] = ByVersion("actor_keys", _MOST_BYTES)
        self._making: dict[AccountId | None, asyncio.Task[ActorKey]] = {}
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def make(self, work: Work, owner: AccountId | None) -> ActorKey:
        """Made beside `work`, and made to the end even if whoever asks goes away."""
        making = self._making.get(owner)
        if making is None:
            making = self._making[owner] = asyncio.create_task(self._make(work, owner))
            making.add_done_callback(lambda _: self._making.pop(owner, None))
        return await asyncio.shield(making)

    async def _make(self, work: Work, owner: AccountId | None) -> ActorKey:
        made = await self.generate(work, owner)
        async with work.aside() as aside:
            await aside.db.hold(_hold(owner))
            found = await store.find(aside.db, owner)  # another process may have been quicker
            if found is None:
                await _check_owner(aside, owner)
                await store.insert(aside.db, made)
        return found or made

    async def generate(self, work: Work, owner: AccountId | None) -> ActorKey:
        """A new key pair that is not kept yet."""
        async with self._places:
            public, private = await self._new_pair()
        sealed = work.find(Sealer).seal(private, PLACE)
        return ActorKey(work.new_id(), owner, public, sealed, None, work.now)

    def parsed(self, work: Work, key_id: int, sealed: str, *, previous: bool = False) -> crypto.RSAPrivateKey:
        found = self._parsed.get((key_id, previous))
        if found is None:
            found = read_private_key(work.find(Sealer).open(sealed, PLACE))
            self._parsed.put((key_id, previous), found, _KEY_BYTES)
        return found


def key_name(actor_uri: str) -> str:
    """What the key of one of our actors is called."""
    return f"{actor_uri}#main-key"


def server_actor_uri(settings: Settings) -> str:
    return f"{settings.base_url}/actor"


async def public_key(work: Work, owner: AccountId | None) -> str:
    """As PEM text. Where there is no key yet it is made, which takes a moment."""
    return (await ensure(work, owner)).public_key


async def signer(work: Work, owner: AccountId | None) -> Signer:
    """With whom an account, or the server itself, signs."""
    row = await ensure(work, owner)
    return Signer(key_name(await _uri(work, owner)), work.find(ActorKeys).parsed(work, row.id, row.private_key))


async def previous_signer(work: Work, owner: AccountId | None) -> Signer | None:
    """What the owner signed with before the last rotation: with it, other servers believe the news at once."""
    row = await store.find(work.db, owner)
    if row is None or row.previous_key is None:
        return None
    key = work.find(ActorKeys).parsed(work, row.id, row.previous_key, previous=True)
    return Signer(key_name(await _uri(work, owner)), key)


async def ensure(work: Work, owner: AccountId | None) -> ActorKey:
    """The key pair of somebody who lives here; of others there is none, and none is made for whoever is gone."""
    found = await store.find(work.db, owner)
    if found is not None:
        return found
    await _check_owner(work, owner)
    writing.refuse("A key pair is made")
    return await work.find(ActorKeys).make(work, owner)


async def rotate(work: Work, owner: AccountId | None) -> ActorKey:
    """Sign with a new key from now on. The old private key is kept for a while, to tell others of the new one."""
    writing.refuse("A key pair is made")
    await _check_owner(work, owner)
    made = await work.find(ActorKeys).generate(work, owner)
    await work.db.hold(_hold(owner))
    old = await store.find(work.db, owner)
    await _check_owner(work, owner)
    if old is None:
        await store.insert(work.db, made)
        return made
    made = msgspec.structs.replace(made, previous_key=old.private_key)
    await store.replace(work.db, old, made)
    if owner is not None:
        await accounts.change(work.db, owner, {}, work.now)
        work.announce(AccountChanged(account_id=owner))
    work.announce(ActorKeyRotated(account_id=owner))
    return made


def _hold(owner: AccountId | None) -> str:
    return f"federation.key:{owner or 'server'}"


async def _check_owner(work: Work, owner: AccountId | None) -> None:
    if owner is None:
        return
    account = await accounts.find(work.db, owner)
    if account is None or not account.is_local or account.deleted_at is not None:
        raise NotFound


async def _uri(work: Work, owner: AccountId | None) -> str:
    if owner is None:
        return server_actor_uri(work.settings)
    account = await accounts.find(work.db, owner)
    if account is None:
        raise NotFound
    return account.uri
