"""What members look at is asked for anew: how polls stand, and what answers a post."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.posts import store
from kith.federation.posts.fetching import PostFetcher
from kith.federation.posts.walking import WALK, WalkReplies
from kith.federation.vocabulary.incoming import DocumentRefused
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.remote_posts import STALE
from kith.social.statuses.tables import UNLISTED, Poll, Status

__all__ = ["Refreshing"]

SECONDS = 5.0
SOON, LATER = timedelta(seconds=30), timedelta(minutes=15)
GIVEN_UP = timedelta(minutes=15)


class Refreshing:
    async def refresh_poll(self, work: Work, poll: Poll) -> None:
        status = await statuses.find(work.db, poll.status_id)
        if status is None or status.local:
            return
        async with work.aside() as aside:
            if not await store.ask_poll(aside.db, poll.id, aside.now - STALE, aside.now):
                return
        try:
            async with asyncio.timeout(SECONDS):
                await work.find(PostFetcher).refresh(status, FetchChain(in_all=10))
        except (FetchFailed, DocumentRefused, TimeoutError):
            return

    async def complete_thread(self, work: Work, status: Status) -> bool:
        """Ask for the answers to a post that a member opens: often while it is young, every 15 minutes afterwards."""
        if status.visibility > UNLISTED:
            return False
        beside = await store.find(work.db, status.id)
        if beside is None or (beside.replies is None and beside.parent is None):
            return False
        before = work.now - min(max((work.now - status.created_at) / 2, SOON), LATER)
        if beside.replies_asked_at is not None and beside.replies_asked_at > before:
            return beside.replies_read_at is None
        async with work.aside() as aside:
            if await store.ask_replies(aside.db, status.id, before, aside.now):
                aside.enqueue(WALK, WalkReplies(status_id=status.id), key=str(status.id))
        return True

    async def is_thread_complete(self, work: Work, status_id: StatusId) -> bool | None:
        beside = await store.find(work.db, status_id)
        if beside is None or beside.replies_asked_at is None:
            return None
        return beside.replies_read_at is not None or beside.replies_asked_at < work.now - GIVEN_UP
