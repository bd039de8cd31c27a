"""Lists are looked at once a day."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.http import Outgoing
from kith.base.jobs import MAKES_ROOM, JobKind, Periodic
from kith.base.work import Work
from kith.federation.block_lists import importing, store, subscribing
from kith.federation.block_lists.csv_lists import BadBlockList

__all__ = ["KINDS", "PERIODIC"]

EVERY = timedelta(days=1)


class LookAtLists(msgspec.Struct):
    """Whichever were not looked at for a day."""


class LookAtList(msgspec.Struct):
    list_id: int


async def look_at_lists(work: Work, _payload: LookAtLists) -> None:
    for id in await store.due(work.db, work.now, EVERY):
        work.enqueue(LOOK_AT_LIST, LookAtList(list_id=id), key=str(id))


async def look_at_list(work: Work, payload: LookAtList) -> None:
    """What cannot be had or read changes nothing; the team sees why, and tomorrow is another day."""
    found = await store.find(work.db, payload.list_id)
    if found is None or found.state == "leaving":
        return
    try:
        fetched = await subscribing.fetch(work.find(Outgoing), work, found.url)
    except BadBlockList as error:
        await store.change(work.db, found.id, {"error": str(error)[:500], "fetched_at": work.now})
        return
    await subscribing.refreshed(work, found.id, fetched)


LOOK_AT_LISTS: JobKind[LookAtLists] = JobKind(
    name="federation_block_lists.look", payload=LookAtLists, handler=look_at_lists, is_harmless=True
)
LOOK_AT_LIST: JobKind[LookAtList] = JobKind(
    name="federation_block_lists.look_at",
    payload=LookAtList,
    handler=look_at_list,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    is_harmless=True,
)
KINDS = (LOOK_AT_LISTS, LOOK_AT_LIST, subscribing.APPLY, importing.BLOCK_SERVERS)
PERIODIC = (Periodic(kind=LOOK_AT_LISTS, every=timedelta(hours=1), payload=LookAtLists()),)
