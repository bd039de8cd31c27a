"""People on other servers, fetched and stored: by their id, by their handle, and by the key they signed with.

Nothing is written while somebody is asked: what has come together is stored in one transaction at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary
from zlib import crc32

from kith.base.caches import ForAWhile
from kith.base.errors import Throttled
from kith.base.http.sites import registrable_domain
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Works
from kith.federation.ended import store as ended
from kith.federation.fetching import (
    FetchChain,
    FetchedDocument,
    FetchFailed,
    RemoteClient,
    confirmed_handle,
    fetch_actor_by_handle,
    fetch_collection,
    fetch_document,
)
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.keys.remote_keys import read_pem
from kith.federation.people import store
from kith.federation.people.leaving import leave
from kith.federation.people.new_hosts import NewHosts
from kith.federation.people.storing import ActorCounts, is_ours, store_actor
from kith.federation.signatures.key_ids import KeyId, read_key_id
from kith.federation.signatures.received import PublicKey
from kith.federation.signatures.refusals import SignatureRefused
from kith.federation.vocabulary.incoming import (
    DocumentRefused,
    Handle,
    IncomingActor,
    IncomingKey,
    read_actor,
    read_handle,
    read_key,
)
from kith.federation.vocabulary.incoming.ids import domain_of, without_fragment
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account

__all__ = [
    "ActorFetches",
    "fetch_actor",
    "fetch_handle",
    "fetch_key",
    "fetch_named",
    "forget_gone",
    "naming_key",
    "refresh",
    "store_fetched",
]

KEY_SECONDS = 20.0
MOST_KEYS = 10_000
KEYS_ELSEWHERE = 3
# People of one site whom posts of another one name: to name fifty who are not there costs its author a few kilobytes,
# and the site that is named fifty requests.
NAMED = LimitRule("people_named", most=300, seconds=300)
# One site may make up names of others without end, and each count takes the place of somebody else's: so there are this
# many counts for all that it names.
COUNTS_OF_SITE = 256


class ActorFetches:
    """Who is being fetched, so that several who need the same person ask once; and which keys were asked for lately."""

    def __init__(self, works: Works) -> None:
        self.works = works
        self.keys: ForAWhile[bool] = ForAWhile("fetched_keys", seconds=KEY_SECONDS, most=MOST_KEYS)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, what: str) -> AsyncIterator[bool]:
        """True for whoever has waited for somebody else with the same wish."""
        lock = self._locks.setdefault(what, asyncio.Lock())
        waited = lock.locked()
        async with lock:
            yield waited


async def fetch_actor(works: Works, uri: str, chain: FetchChain) -> Account | None:
    """Whoever `uri` names, fetched and stored; None for one of ours who is not there.

    Raises `FetchFailed`, with the reason `gone` once an account that was known is deleted.
    """
    uri = without_fragment(uri)
    if is_ours(works.settings, uri):
        return await _known(works, uri)
    async with _fetches(works).turn(uri) as waited:
        found = await _known(works, uri) if waited else None
        if found is not None and found.deleted_at is None:
            return found
        try:
            fetched = await fetch_document(_client(works), uri, chain=chain, signer=_signer(works))
        except FetchFailed as failed:
            if failed.reason == "gone":
                await forget_gone(works, uri)
            raise
        return await store_fetched(works, fetched, chain)


def naming_key(site: str, other: str) -> str:
    """Key of the count for people of `other` whom `site` names."""
    return f"{site} {crc32(other.encode()) % COUNTS_OF_SITE}"


async def fetch_named(works: Works, uri: str, site: str, chain: FetchChain) -> Account | None:
    """Somebody whom what `site` has sent only names; None, too, where it has named very many of the same other site."""
    other = registrable_domain(domain_of(uri))
    try:
        if site != other:
            works.services[Limiter].spend(NAMED, naming_key(site, other))
    except Throttled:
        return None
    return await fetch_actor(works, uri, chain)


async def store_fetched(
    works: Works, fetched: FetchedDocument, chain: FetchChain, handle: Handle | None = None
) -> Account:
    """The actor whose document has come from its own host. Raises `FetchFailed`."""
    return await _complete(works, _read(fetched), handle, chain)


async def fetch_handle(works: Works, handle: Handle, chain: FetchChain) -> Account | None:
    """Whoever `handle` names; None for one of ours who is not there. Raises `FetchFailed`."""
    if works.settings.is_own_domain(handle.domain):
        return await _named(works, handle.username, "")
    async with _fetches(works).turn(f"acct:{handle.username.lower()}@{handle.domain}") as waited:
        found = await _named(works, handle.username, handle.domain) if waited else None
        if found is not None and found.deleted_at is None:
            return found
        try:
            actor, confirmed = await fetch_actor_by_handle(_client(works), handle, chain=chain, signer=_signer(works))
        except FetchFailed as failed:
            known = await _named(works, handle.username, handle.domain) if failed.reason == "gone" else None
            if known is not None:
                await forget_gone(works, known.uri)
            raise
        return await _complete(works, actor, confirmed, chain)


async def refresh(works: Works, account: Account, chain: FetchChain) -> Account | None:
    """The account as it is now; None when it is gone for good. Raises `FetchFailed` where nobody can tell."""
    try:
        return await fetch_actor(works, account.uri, chain)
    except FetchFailed as failed:
        if failed.reason == "gone":
            return None
        async with works.begin() as work:  # not asked again before its time
            await store.fetched(work.db, account.id, work.now)
        raise


# What an actor consists of


async def _complete(works: Works, actor: IncomingActor, handle: Handle | None, chain: FetchChain) -> Account:
    """With its handle, its keys, its counts and its new home, all asked for before anything is written."""
    if is_ours(works.settings, actor.id):
        raise FetchFailed("wrong_host", actor.id)
    known = await _known(works, actor.id)
    if known is not None and known.deleted_at is not None and await _has_left(works, actor.id):
        raise FetchFailed("gone", actor.id)
    if known is None and not await _is_known_host(works, actor.domain):
        works.services[NewHosts].check(actor.domain)
    if handle is None:
        handle = await _handle(works, actor, known, chain)
    keys = [one for uri in actor.keys.elsewhere[:KEYS_ELSEWHERE] if (one := await _key_at(works, uri, actor, chain))]
    if not (actor.keys.keys or keys or known):
        raise FetchFailed("document", f"{actor.id} has no key that can be read")
    counts = await _counts(works, actor, chain)
    await _fetch_new_home(works, actor, chain)
    try:
        async with works.begin() as work:
            return await store_actor(work, actor, handle=handle, keys=keys, counts=counts)
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{actor.id}: {refused}") from refused


async def _handle(works: Works, actor: IncomingActor, known: Account | None, chain: FetchChain) -> Handle | None:
    """As WebFinger confirms it. Somebody known keeps theirs while nobody answers there."""
    try:
        return await confirmed_handle(_client(works), actor, chain=chain)
    except FetchFailed as failed:
        if known is None or known.deleted_at is not None or not failed.may_pass:
            raise
        return None


async def _key_at(works: Works, uri: str, actor: IncomingActor, chain: FetchChain) -> IncomingKey | None:
    """A key that its actor names by an address, if it names the actor in turn."""
    try:
        fetched = await fetch_document(_client(works), uri, chain=chain, signer=_signer(works))
        key = read_key(fetched.document, uri)
    except (FetchFailed, DocumentRefused):
        return None
    return key if key.owner == actor.id else None


async def _counts(works: Works, actor: IncomingActor, chain: FetchChain) -> ActorCounts:
    totals = await asyncio.gather(
        *(_total(works, uri, chain) for uri in (actor.outbox, actor.followers, actor.following))
    )
    return ActorCounts(*totals)


async def _total(works: Works, uri: str | None, chain: FetchChain) -> int | None:
    if uri is None:
        return None
    try:
        return (await fetch_collection(_client(works), uri, chain=chain, signer=_signer(works))).total
    except FetchFailed:
        return None


async def _fetch_new_home(works: Works, actor: IncomingActor, chain: FetchChain) -> None:
    """Whoever somebody has moved to is known before the move is shown; where they have moved in turn is not asked."""
    if actor.moved_to is None or await _known(works, actor.moved_to) is not None:
        return
    if is_ours(works.settings, actor.moved_to):
        return
    try:
        fetched = await fetch_document(_client(works), actor.moved_to, chain=chain, signer=_signer(works))
        target = _read(fetched)
        if target.moved_to is None:
            await _complete(works, target, None, chain)
    except FetchFailed:
        return


def _read(fetched: FetchedDocument) -> IncomingActor:
    try:
        return read_actor(fetched.document)
    except DocumentRefused as refused:
        raise FetchFailed("document", str(refused)) from refused


# Keys


async def fetch_key(works: Works, key_id: str, chain: FetchChain) -> tuple[Account, PublicKey]:
    """Whose a key is, and the key, asked anew; within 20 seconds of the last time, what that has told.

    Raises `FetchFailed`.
    """
    try:
        named = read_key_id(key_id)
    except SignatureRefused as refused:
        raise FetchFailed("document", str(refused)) from refused
    async with _fetches(works).turn(f"key:{named.id}"):
        if not _fetches(works).keys.get(named.id):
            _fetches(works).keys.put(named.id, True)
            owner = await _owner_of(works, named, chain)
        else:
            owner = None
        return await _stored_key(works, named, owner)


async def _owner_of(works: Works, named: KeyId, chain: FetchChain) -> Account | None:
    """The actor behind a key, fetched anew: what the key's address answers, or whom that names as the owner."""
    if named.is_handle:
        handle = read_handle(named.document)
        return await fetch_handle(works, handle, chain) if handle is not None else None
    try:
        fetched = await fetch_document(_client(works), named.document, chain=chain, signer=_signer(works))
    except FetchFailed as failed:
        if failed.reason == "gone":
            await forget_gone(works, named.document)
        raise
    try:
        key = read_key(fetched.document, named.id)
    except DocumentRefused as refused:
        raise FetchFailed("document", str(refused)) from refused
    if fetched.document.get("id") == key.owner and "inbox" in fetched.document:
        return await store_fetched(works, fetched, chain)
    return await fetch_actor(works, key.owner, chain)


async def _stored_key(works: Works, named: KeyId, owner: Account | None) -> tuple[Account, PublicKey]:
    work = works.open()
    try:
        if named.is_handle and owner is not None:
            row = next(iter(await store.keys_of_account(work.db, owner.id)), None)
        else:
            row = await store.find_signing_key(work.db, named.id)
        account = await accounts.find(work.db, row.account_id) if row is not None else None
    finally:
        await work.rollback()
    if row is None or account is None:
        raise FetchFailed("document", f"nobody has the key {named.id[:200]}")
    return account, read_pem(row.public_key)


# Around it


async def forget_gone(works: Works, uri: str) -> None:
    """Somebody's own server says that they are gone for good: so they are here."""
    async with works.begin() as work:
        account = await accounts.find_by_uri(work.db, without_fragment(uri))
        if account is not None and not account.is_local and account.deleted_at is None:
            await leave(work, account)


async def _known(works: Works, uri: str) -> Account | None:
    work = works.open()
    try:
        return await accounts.find_by_uri(work.db, uri)
    finally:
        await work.rollback()


async def _has_left(works: Works, uri: str) -> bool:
    """Whether somebody has just said that they are gone, although their server does not say so yet."""
    work = works.open()
    try:
        return await ended.is_ended(work.db, uri, uri, work.now)
    finally:
        await work.rollback()


async def _is_known_host(works: Works, domain: str) -> bool:
    work = works.open()
    try:
        return await store.knows_anybody_at(work.db, domain)
    finally:
        await work.rollback()


async def _named(works: Works, username: str, domain: str) -> Account | None:
    work = works.open()
    try:
        return await accounts.find_named(work.db, username, domain)
    finally:
        await work.rollback()


def _client(works: Works) -> RemoteClient:
    found: RemoteClient = works.services[RemoteClient]
    return found


def _signer(works: Works) -> OurSigner:
    found: OurSigner = works.services[OurSigner]
    return found


def _fetches(works: Works) -> ActorFetches:
    found: ActorFetches = works.services[ActorFetches]
    return found
