"""What somebody passes on for others: nothing of it is believed, but it may point at something to fetch."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.known import Known
from kith.federation.posts.fetching import PostFetcher
from kith.federation.relays.service import is_relay
from kith.federation.vocabulary.incoming import Document, DocumentRefused
from kith.federation.vocabulary.incoming.activities.head import embedded, own_object_id, read_head
from kith.federation.vocabulary.incoming.fields import read_object_id, type_of
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status

__all__ = ["LOOK_AGAIN", "take_forwarded"]

_POINTERS = frozenset({"Create", "Update", "Delete"})
FRESH = timedelta(minutes=1)


class LookAgain(msgspec.Struct):
    """Somebody says that a post of another server has changed, or is gone: its own server knows."""

    status_id: StatusId


async def take_forwarded(work: Work, known: Known, sender: Account, document: Document) -> None:
    """A post is fetched from where it is at home, if it replies to one that is known or a relay passes it on."""
    kind = type_of(document, _POINTERS)
    if kind is None:
        return
    head = read_head(document, needs_id=False)
    uri = own_object_id(head)
    found = await statuses.find_by_uri(work.db, uri)
    if found is not None:
        if kind != "Create" and not found.local and found.deleted_at is None:
            work.enqueue(LOOK_AGAIN, LookAgain(found.id), at=_when(work, found), key=str(found.id))
        return
    parent = read_object_id((embedded(head) or {}).get("inReplyTo"))
    is_reply = parent is not None and await statuses.find_by_uri(work.db, parent) is not None
    if kind != "Delete" and (is_reply or await is_relay(work, sender)):
        await known.status(work, uri)


def _when(work: Work, status: Status) -> datetime:
    """At once, but no sooner than a minute after it was asked for: whoever says so may be lying."""
    return work.now if status.fetched_at is None else max(work.now, status.fetched_at + FRESH)


async def look_again(work: Work, payload: LookAgain) -> None:
    status = await statuses.find(work.db, payload.status_id)
    if status is None or status.local or status.deleted_at is not None:
        return
    try:
        await work.find(PostFetcher).refresh(status, FetchChain())
    except DocumentRefused:
        return
    except FetchFailed as failed:
        if failed.may_pass:
            raise Give(str(failed), later=timedelta(minutes=10)) from failed


LOOK_AGAIN: JobKind[LookAgain] = JobKind(
    name="federation_inbox.look_again",
    payload=LookAgain,
    handler=look_again,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=3,
    is_harmless=True,
)
