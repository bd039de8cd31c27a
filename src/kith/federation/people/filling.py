"""A profile that is seen for the first time is filled: what its owner has pinned, their tags and their newest posts.

What they have pinned and their tags are read again whenever a member opens it: nobody tells those who do not follow.

Posts are another room's matter: what fetches and keeps one is given to this one (`RemoteNotes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Protocol

import msgspec

from kith.base.clocks import is_recent
from kith.base.errors import Problem
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work, Works
from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient, fetch_collection, fetch_items
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.people import store
from kith.federation.people.fetching import ActorFetches
from kith.federation.people.tables import RemoteActor
from kith.federation.vocabulary.incoming import DocumentRefused, IncomingItem
from kith.federation.vocabulary.incoming.ids import read_id, same_domain
from kith.federation.vocabulary.incoming.tags import read_hashtag
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.featured import service as featured
from kith.social.ids import AccountId
from kith.social.relationships.facts import Followed, FollowRequested
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PRIVATE, Status
from kith.social.tags import store as tags

__all__ = [
    "FILL",
    "FILL_FOLLOWED",
    "REREAD_TOP",
    "FillProfile",
    "RemoteNotes",
    "RereadTop",
    "fill_or_reread_later",
    "fill_requested",
]

FILLED_FOR = timedelta(days=1)
MOST_PINS = 10
MOST_KEPT = 50  # of those that were read one time or another
PIN_PAGES = 5
MOST_TAGS = 10
MOST_COUNTED = 1000  # posts with one
TAG_PAGES = 10
MOST_POSTS = 20
REQUESTS = 60


class RemoteNotes(Protocol):
    async def fetch(self, works: Works, uri: str, chain: FetchChain, *, is_aside: bool = False) -> Status | None:
        """The post that `uri` names, fetched and stored if it is not known. Raises what fetching raises.

        `is_aside`: one of many that nobody has asked for; little is asked about what it leads to.
        """
        ...


class FillProfile(msgspec.Struct):
    account_id: AccountId


class RereadTop(msgspec.Struct):
    """What a profile shows first: pinned posts and featured tags."""

    account_id: AccountId


def fill_later(work: Work, account_id: AccountId) -> None:
    work.enqueue(FILL, FillProfile(account_id=account_id), key=str(account_id))


def fill_or_reread_later(work: Work, actor: RemoteActor) -> None:
    if _is_filled(work, actor):
        work.enqueue(REREAD_TOP, RereadTop(account_id=actor.account_id), key=str(actor.account_id))
    else:
        fill_later(work, actor.account_id)


def _is_filled(work: Work, actor: RemoteActor) -> bool:
    return actor.filled_at is not None and is_recent(actor.filled_at, work.now, FILLED_FOR)


async def fill_requested(work: Work, fact: FollowRequested | Followed) -> None:
    """Somebody here follows somebody elsewhere, or asks to."""
    target = await accounts.find(work.db, fact.target_id)
    follower = await accounts.find(work.db, fact.account_id)
    if target is None or follower is None or target.is_local or not follower.is_local:
        return
    actor = await store.find_actor(work.db, target.id)
    if actor is not None and actor.filled_at is None:
        fill_later(work, target.id)


async def fill(work: Work, payload: FillProfile) -> None:
    """All of it bounded by one chain; what cannot be had is left out."""
    filler = await _filler(work, payload.account_id)
    if filler is None or _is_filled(work, filler.actor):
        return
    await filler.pins()
    await filler.tags()
    await filler.posts()
    await store.filled(work.db, payload.account_id, work.now)


async def reread_top(work: Work, payload: RereadTop) -> None:
    filler = await _filler(work, payload.account_id)
    if filler is not None:
        await filler.pins()
        await filler.tags()


async def _filler(work: Work, account_id: AccountId) -> _Filler | None:
    account = await accounts.find(work.db, account_id)
    actor = await store.find_actor(work.db, account_id)
    if account is None or actor is None or account.is_gone:
        return None
    return _Filler(work.find(ActorFetches).works, account, actor, work.find(RemoteNotes))  # type: ignore[type-abstract]


class _Filler:
    def __init__(self, works: Works, account: Account, actor: RemoteActor, notes: RemoteNotes) -> None:
        self._works, self._account, self.actor, self._notes = works, account, actor, notes
        self._chain = FetchChain(in_all=REQUESTS, per_host=REQUESTS)

    async def pins(self) -> None:
        items = await self._items(self.actor.featured, pages=PIN_PAGES, most=MOST_PINS)
        if items is None:
            return
        kept = [status for uri in _uris(items) if (status := await self._note(uri)) is not None]
        pinned = [one for one in kept if self._may_be_pinned(one)]
        async with self._works.begin() as work:
            await work.db.hold(f"pins:{self._account.id}")
            before, now = set(await statuses.pinned_by(work.db, self._account.id)), {status.id for status in pinned}
            # There may be more than were read: then none is known to be gone, until there are too many.
            is_whole = len(items) < MOST_PINS or len(before | now) > MOST_KEPT
            for one in before - now if is_whole else ():
                await statuses.unmark(work.db, "pins", self._account.id, one)
            for status in pinned:
                if status.id not in before:
                    await statuses.mark(work.db, "pins", self._account.id, status.id, id=work.new_id(), now=work.now)

    def _may_be_pinned(self, status: Status) -> bool:
        """Their own words, and no boost of anybody's."""
        is_own = status.account_id == self._account.id and status.reblog_of_id is None
        return is_own and status.visibility <= PRIVATE and status.deleted_at is None

    async def tags(self) -> None:
        items = await self._items(self.actor.featured_tags, pages=TAG_PAGES, most=MOST_TAGS)
        if items is None:
            return
        found = [read_hashtag(item.document) for item in items if item.document is not None]
        names = [one.name for one in found if one is not None]
        async with self._works.begin() as work:
            await _set_tags(work, self._account.id, names)

    async def posts(self) -> None:
        """The newest first; boosts are left to whoever follows."""
        for uri in _uris(await self._items(self.actor.outbox, pages=1, most=MOST_POSTS) or ()):
            await self._note(uri)

    async def _items(self, uri: str | None, *, pages: int, most: int) -> Sequence[IncomingItem] | None:
        if uri is None:
            return None
        client, signer = self._works.services[RemoteClient], self._works.services[OurSigner]
        try:
            collection = await fetch_collection(client, uri, chain=self._chain, signer=signer)
            return await fetch_items(
                client,
                collection,
                most_pages=pages,
                most_items=most,
                chain=self._chain,
                signer=signer,
                must_be_whole=True,
            )
        except FetchFailed:
            return None

    async def _note(self, uri: str) -> Status | None:
        if not same_domain(uri, self._account.uri):
            return None
        try:
            return await self._notes.fetch(self._works, uri, self._chain, is_aside=True)
        except (FetchFailed, DocumentRefused):
            return None


def _uris(items: Iterable[IncomingItem]) -> list[str]:
    """Of posts: named by themselves, embedded, or within the activity that made them."""
    found: dict[str, None] = {}
    for item in items:
        document = item.document or {}
        if document.get("type") == "Announce":
            continue
        inner = document.get("object") if document.get("type") == "Create" else None
        uri = read_id(inner.get("id") if isinstance(inner, dict) else inner) if inner is not None else item.id
        if uri is not None:
            found[uri] = None
    return list(found)


async def _set_tags(work: Work, account_id: AccountId, names: Sequence[str]) -> None:
    kept = set()
    for name in names[:MOST_TAGS]:
        try:
            kept.add((await featured.feature(work, account_id, name, most_counted=MOST_COUNTED)).id)
        except Problem:
            continue
    for one in await tags.features_of(work.db, account_id):
        if one.id not in kept and len(names) < MOST_TAGS:
            await featured.unfeature(work, account_id, one.id)


FILL: JobKind[FillProfile] = JobKind(
    name="federation_people.fill",
    payload=FillProfile,
    handler=fill,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=3,
    patience=timedelta(minutes=10),
    is_harmless=True,
)
REREAD_TOP: JobKind[RereadTop] = JobKind(
    name="federation_people.reread_top",
    payload=RereadTop,
    handler=reread_top,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=1,
    patience=timedelta(minutes=10),
    is_harmless=True,
)
FILL_FOLLOWED: JobKind[FollowRequested] = JobKind(
    name="federation_people.fill_followed", payload=FollowRequested, handler=fill_requested, is_harmless=True
)
