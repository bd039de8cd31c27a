"""Media, previews and avatars of other servers take only so much room: what was looked at longest ago is dropped.

Whatever was dropped is fetched again when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.metrics import FETCHED_BYTES, FETCHED_DROPPED
from kith.base.work import Work
from kith.social.accounts import fetched_pictures
from kith.social.accounts.pictures import FORGET_FILES, ForgetFiles
from kith.social.media.tasks import forget_folders
from kith.social.remote_media import store
from kith.social.remote_media.looks import Looks
from kith.social.remote_media.store import Fetched

__all__ = ["EVERY", "KEEP_BUDGET", "KeepBudget", "dropped"]

EVERY = timedelta(minutes=10)
BATCH = 200


class KeepBudget(msgspec.Struct):
    """Drop what is too much, a batch at a time."""


async def keep_budget(work: Work, _payload: KeepBudget) -> None:
    total = await store.total(work.db)
    budget = work.settings.media_budget
    if budget:
        await work.find(Looks).write(work)
    if budget and total > budget:
        found = await store.oldest(work.db, BATCH)
        chosen = _enough(found, total - budget)
        await _drop(work, chosen)
        total -= sum(one.size for one in chosen)
        if total > budget and len(found) == BATCH:
            work.enqueue(KEEP_BUDGET, KeepBudget(), key="more")
    FETCHED_BYTES.set(total)


def _enough(found: Sequence[Fetched], too_much: int) -> list[Fetched]:
    chosen = []
    for one in found:
        if too_much <= 0:
            break
        chosen.append(one)
        too_much -= one.size
    return chosen


async def _drop(work: Work, chosen: Sequence[Fetched]) -> None:
    gone = await store.drop_attachments(work.db, [one.id for one in chosen if one.shelf == store.ATTACHMENTS])
    keys = await store.drop_cards(work.db, [one.id for one in chosen if one.shelf == store.CARDS])
    for shelf in store.PICTURES:
        keys += await fetched_pictures.drop(work.db, shelf, [one.id for one in chosen if one.shelf == shelf])
    dropped(work, gone, keys, "budget")


def dropped(work: Work, media_ids: list[int], keys: list[str], reason: str) -> None:
    """Their files go when this work is committed."""
    forget_folders(work, media_ids)
    if keys:
        work.enqueue(FORGET_FILES, ForgetFiles(keys=keys))
    FETCHED_DROPPED.labels(reason).inc(len(media_ids) + len(keys))


KEEP_BUDGET: JobKind[KeepBudget] = JobKind(
    name="media.keep_budget", payload=KeepBudget, handler=keep_budget, outside=True, concurrency=1
)
