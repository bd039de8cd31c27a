"""Whom and what somebody means by a handle or an address: looked up elsewhere when it is not known here."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from kith.base.caches import ForAWhile
from kith.base.counted_log import log_counted
from kith.base.work import Work, Works
from kith.federation.discovery.resources import name_in
from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient, fetch_by_address
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.gate.service import Gate
from kith.federation.people import store
from kith.federation.people.fetching import fetch_handle, store_fetched
from kith.federation.people.filling import RemoteNotes, fill_or_reread_later
from kith.federation.people.storing import is_ours
from kith.federation.people.tasks import is_stale, refresh_later
from kith.federation.vocabulary.incoming import Document, DocumentRefused, Handle, read_handle
from kith.federation.vocabulary.incoming.actors import ACTOR_TYPES
from kith.federation.vocabulary.incoming.fields import read_object_id, type_of
from kith.federation.vocabulary.incoming.ids import read_id, without_fragment
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.search.elsewhere import FoundElsewhere
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status

__all__ = ["LookUp"]

SECONDS = 20.0
SECONDS_OF_WORK = 15.0  # for all that one request looks up, such as the people whom a post mentions
MOST_OF_WORK = 10
REQUESTS = 30
NOBODY_SECONDS = 300.0
OPENED_SECONDS = 30.0  # for as long another look at a profile asks nothing
MOST = 20_000
ACTIVITY = "/activity"  # what the address of a post ends in where its making is meant
_CARRIERS = frozenset({"Create", "Update", "Announce"})
Found = TypeVar("Found")


class _Spent:
    """What one request of a member has looked up so far."""

    def __init__(self) -> None:
        self.count = 0
        self.until = asyncio.get_running_loop().time() + SECONDS_OF_WORK

    def may_ask(self) -> bool:
        self.count += 1
        return self.count <= MOST_OF_WORK and asyncio.get_running_loop().time() < self.until


class LookUp:
    """Nothing is looked up while a work writes, nor for long: who cannot be found in time is not found."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._nobody: ForAWhile[bool] = ForAWhile("nobody_elsewhere", seconds=NOBODY_SECONDS, most=MOST)
        self._opened: ForAWhile[bool] = ForAWhile("opened_profiles", seconds=OPENED_SECONDS, most=MOST)
        self._spent: WeakKeyDictionary[Work, _Spent] = WeakKeyDictionary()

    # The directory of accounts

    async def find(self, work: Work, username: str, domain: str) -> Account | None:
        handle = read_handle(f"{username}@{domain}")
        if handle is None or work.db.is_writing or self._nobody.get(handle.key) or not self._may_ask(work):
            return None
        if not await work.find(Gate).admits(handle.domain, work):
            return None  # nobody there is remembered as missing: they can be found once their server is let in
        found = await self._in_time(self._by_handle(handle))
        if found is None:
            self._nobody.put(handle.key, True)
            return None
        return await accounts.find(work.db, found.id)

    async def find_at(self, work: Work, address: str) -> Account | None:
        """By the address of a profile or the id of an actor, asked anew; or by a handle."""
        if work.db.is_writing:
            return None
        handle = read_handle(address)
        if handle is not None and "://" not in address:
            found = await self._in_time(self._by_handle(handle))
            return None if found is None else await accounts.find(work.db, found.id)
        seen = await self._in_time(self._at(address, asks_anew=True))
        return None if seen is None or seen.account_id is None else await accounts.find(work.db, seen.account_id)

    async def opened(self, work: Work, account_id: AccountId) -> None:
        """A member looks at a profile: it is filled or its top read again, and asked for anew if that is long ago."""
        if self._opened.get(account_id):
            return
        self._opened.put(account_id, True)
        account = await accounts.find(work.db, account_id)
        if account is None or account.is_local or account.deleted_at is not None:
            return
        if is_stale(work, account):
            refresh_later(work, account)
        actor = await store.find_actor(work.db, account_id)
        if actor is not None:
            fill_or_reread_later(work, actor)

    # Whatever has an address, for search

    async def look_up(self, work: Work, address: str) -> FoundElsewhere | None:
        if work.db.is_writing:
            return None
        return await self._in_time(self._at(address, asks_anew=False))

    # How

    def _may_ask(self, work: Work) -> bool:
        spent = self._spent.get(work)
        if spent is None:
            spent = self._spent[work] = _Spent()
        return spent.may_ask()

    async def _in_time(self, asking: Coroutine[Any, Any, Found | None]) -> Found | None:
        try:
            async with asyncio.timeout(SECONDS):
                return await asking
        except (FetchFailed, DocumentRefused, TimeoutError) as error:
            log_counted("info", "people.not_found", type(error).__name__, why=str(error)[:300])
            return None

    async def _by_handle(self, handle: Handle) -> Account | None:
        return await fetch_handle(self._works, handle, FetchChain(in_all=REQUESTS))

    async def _at(self, address: str, *, asks_anew: bool) -> FoundElsewhere | None:
        uri = read_id(address)
        if uri is None:
            return None
        chain = FetchChain(in_all=REQUESTS)
        if is_ours(self._works.settings, uri):
            return await self._ours(without_fragment(uri))
        client, signer = self._works.services[RemoteClient], self._works.services[OurSigner]
        fetched = await fetch_by_address(client, uri, chain=chain, signer=signer)
        id = str(fetched.document.get("id", ""))
        if type_of(fetched.document, ACTOR_TYPES) is not None:
            known = None if asks_anew else await self._fresh(without_fragment(id))
            account = known or await store_fetched(self._works, fetched, chain)
            return FoundElsewhere(account_id=account.id)
        notes: RemoteNotes = self._works.services[RemoteNotes]
        status = await notes.fetch(self._works, _post_in(fetched.document) or id, chain)
        return None if status is None else FoundElsewhere(status_id=status.id)

    async def _ours(self, uri: str) -> FoundElsewhere | None:
        work = self._works.open()
        try:
            name = name_in(uri, self._works.settings)
            account = await accounts.find_named(work.db, name) if name else None
            status = None if name else await _our_post(work, uri.removesuffix(ACTIVITY))
        finally:
            await work.rollback()
        if account is not None:
            return FoundElsewhere(account_id=account.id)
        return None if status is None else FoundElsewhere(status_id=status.id)

    async def _fresh(self, uri: str) -> Account | None:
        work = self._works.open()
        try:
            found = await accounts.find_by_uri(work.db, uri)
        finally:
            await work.rollback()
        return None if found is None or found.deleted_at is not None or is_stale(work, found) else found


async def _our_post(work: Work, address: str) -> Status | None:
    """By its id or the address of its page, both of which end in its number."""
    number = address.rpartition("/")[2]
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    found = await statuses.find(work.db, StatusId(int(number)))
    return None if found is None or found.deleted_at is not None or address not in (found.uri, found.url) else found


def _post_in(document: Document) -> str | None:
    """The id of the post that an activity is about; it is fetched from where it is at home."""
    return None if type_of(document, _CARRIERS) is None else read_object_id(document.get("object"))
