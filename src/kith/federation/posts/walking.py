"""The answers to a post, and theirs, walked through the collections of the servers they are on, within limits."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from datetime import timedelta

import msgspec

from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed, fetch_collection, fetch_items
from kith.federation.posts import store
from kith.federation.posts.fetching import PostFetcher, keep_note
from kith.federation.posts.threads import ASIDE
from kith.federation.vocabulary.incoming import DocumentRefused, IncomingItem
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.federation.vocabulary.incoming.notes import read_bare_note
from kith.social.ids import StatusId
from kith.social.statuses.tables import Status

__all__ = ["WALK", "WalkReplies"]

MOST_REPLIES = 1000
MOST_PAGES = 500
MOST_OF_ONE = 500
REQUESTS = 1500
REQUESTS_TO_ONE = 500


class WalkReplies(msgspec.Struct):
    status_id: StatusId


async def walk(work: Work, payload: WalkReplies) -> None:
    """Breadth first. What cannot be had is left out; that it is over is told whatever came of it."""
    beside = await store.find(work.db, payload.status_id)
    walk = _Walk(work.find(PostFetcher))
    if beside is not None and beside.parent is not None:
        await walk.find_parent(beside.parent)
    if beside is not None and beside.replies is not None:
        await walk.begin(beside.replies)
    await store.change(work.db, payload.status_id, replies_read_at=work.now)


class _Walk:
    def __init__(self, fetcher: PostFetcher) -> None:
        self._fetcher = fetcher
        self._chain = FetchChain(in_all=REQUESTS, per_host=REQUESTS_TO_ONE)
        self._seen: set[str] = set()
        self._collections: deque[str] = deque()
        self._pages = MOST_PAGES
        self._left = MOST_REPLIES

    async def find_parent(self, uri: str) -> None:
        """What could not be had when the answer came may be had now; it is linked when it is stored."""
        with suppress(FetchFailed, DocumentRefused):
            await self._fetcher.fetch(uri, self._chain)

    async def begin(self, replies: str) -> None:
        self._note(replies)
        while self._collections and self._left > 0 and self._pages > 0:
            uri = self._collections.popleft()
            for item in await self._items(uri):
                if item.id is None or item.id in self._seen or self._left <= 0:
                    continue
                self._seen.add(item.id)
                self._left -= 1
                await self._go_on(await self._keep(item, uri))

    def _note(self, uri: str | None) -> None:
        if uri is not None and uri not in self._seen:
            self._seen.add(uri)
            self._collections.append(uri)

    async def _items(self, uri: str) -> list[IncomingItem]:
        client, signer, before = self._fetcher.client, self._fetcher.signer, self._chain.spent
        try:
            found = await fetch_collection(client, uri, chain=self._chain, signer=signer)
            return await fetch_items(
                client,
                found,
                most_pages=self._pages,
                most_items=min(MOST_OF_ONE, self._left),
                chain=self._chain,
                signer=signer,
            )
        except FetchFailed:
            return []
        finally:
            self._pages -= self._chain.spent - before

    async def _keep(self, item: IncomingItem, collection: str) -> Status | None:
        """What is embedded is believed of the host that has given out the list, and of no other."""
        uri = item.id or ""
        try:
            if item.document is not None and same_domain(uri, collection) and "content" in item.document:
                return await keep_note(self._fetcher.works, read_bare_note(item.document), self._chain, steps=ASIDE)
            return await self._fetcher.fetch(uri, self._chain, steps=ASIDE)
        except (FetchFailed, DocumentRefused):
            return None

    async def _go_on(self, status: Status | None) -> None:
        """Answers to those who live here are here already."""
        if status is None or status.local:
            return
        async with self._fetcher.works.begin() as work:
            beside = await store.find(work.db, status.id)
        self._note(None if beside is None else beside.replies)


WALK: JobKind[WalkReplies] = JobKind(
    name="federation_posts.walk",
    payload=WalkReplies,
    handler=walk,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=2,
    patience=timedelta(minutes=15),
    is_harmless=True,
)
