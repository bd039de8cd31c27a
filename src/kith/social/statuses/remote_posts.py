"""What is asked of other servers while somebody looks: a port. Federation knows them; without it nobody is asked."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store
from kith.social.statuses.tables import Poll, Status

__all__ = ["PREFIX", "NoRemotePosts", "RemotePosts", "header_value", "is_over", "is_stale"]

PREFIX = "context"
SECONDS = 3
STALE = timedelta(minutes=1)


class RemotePosts(Protocol):
    async def refresh_poll(self, work: Work, poll: Poll) -> None:
        """Ask its server how it stands, within a few seconds; it stays as it is where nobody answers."""
        ...

    async def complete_thread(self, work: Work, status: Status) -> bool:
        """Have the answers to a post looked up where that is due; whether that is going on."""
        ...

    async def is_thread_complete(self, work: Work, status_id: StatusId) -> bool | None:
        """None where nobody has asked for it."""
        ...


class NoRemotePosts:
    async def refresh_poll(self, work: Work, poll: Poll) -> None:
        """It stays as it is."""

    async def complete_thread(self, work: Work, status: Status) -> bool:  # noqa: ARG002 - the port's shape
        return False

    async def is_thread_complete(self, work: Work, status_id: StatusId) -> bool | None:  # noqa: ARG002
        return None


def is_stale(work: Work, poll: Poll) -> bool:
    """Of another server, and last heard of a while ago, before it was over."""
    at = poll.fetched_at
    return at is not None and at < work.now - STALE and (poll.expires_at is None or at < poll.expires_at)


def header_value(me: AccountId, status_id: StatusId) -> bytes:
    return f'id="{PREFIX}:{me}:{status_id}", retry={SECONDS}'.encode()


async def is_over(work: Work, me: AccountId, about: str) -> bool | None:
    """Whether all of a thread that could be had is here by now; None where nobody waits for it."""
    if not (about.isascii() and about.isdigit() and len(about) <= 18):
        return None
    if await store.find_visible(work.db, StatusId(int(about)), me) is None:
        return None
    return await work.find(RemotePosts).is_thread_complete(work, StatusId(int(about)))  # type: ignore[type-abstract]
