"""Deleting: gone for everybody at once; what must be tidied up or told elsewhere follows."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.media import service as media
from kith.social.media import store as media_store
from kith.social.statuses import polls, store
from kith.social.statuses.facts import StatusDeleted
from kith.social.statuses.tables import DIRECT, PUBLIC, UNLISTED, Status
from kith.social.tags import store as tags


class FilesLeft(msgspec.Struct):
    """A post that is deleted had many files."""

    status_id: StatusId


async def find_own(work: Work, me: AccountId, status_id: StatusId) -> Status:
    found = await store.find_visible(work.db, status_id, me)
    if found is None or found.account_id != me:
        raise NotFound
    return found


async def hold(work: Work, status_id: StatusId) -> None:
    """Wait until nobody else edits or deletes this post: an edit writes to its poll, media and tags first, a deletion
    to the post first, and PostgreSQL would end one of the two."""
    await work.db.hold(f"edit:{status_id}")


async def remove(work: Work, status: Status, *, with_media: bool) -> None:
    """Its media are free again for another draft, or go with it, as those always do that only its history shows."""
    await hold(work, status.id)
    if not await store.remove(work.db, status.id, work.now):
        raise NotFound
    await uncount(work, status)
    await store.unpin_everywhere(work.db, status.id)
    if not with_media:
        await media.detach(work, status.media_ids)
    await drop_files(work, FilesLeft(status.id))
    if status.poll_id is not None:
        await polls.remove(work.db, status.poll_id)
    work.announce(StatusDeleted(status_id=status.id, account_id=status.account_id, reblog_of_id=status.reblog_of_id))


async def drop_files(work: Work, payload: FilesLeft) -> None:
    """A stretch at a time, each a job of its own, until nothing is left."""
    left = await media_store.ids_of_status(work.db, payload.status_id, most=media.STRETCH)
    if left:
        await media.delete_with(work, left)
    if len(left) == media.STRETCH:
        work.enqueue(DROP_FILES, payload)


async def uncount(work: Work, status: Status) -> None:
    """Whatever was counted when it was posted."""
    if status.visibility != DIRECT:
        await accounts.count(work.db, status.account_id, statuses=-1)
    if status.reblog_of_id is not None:
        await store.count(work.db, status.reblog_of_id, reblogs=-1)
    if status.in_reply_to_id is not None and status.visibility in (PUBLIC, UNLISTED):
        await store.count(work.db, status.in_reply_to_id, replies=-1)
    if status.quoted_id is not None and status.quote_state == "accepted":
        await store.count(work.db, status.quoted_id, quotes=-1)
    if status.visibility in (PUBLIC, UNLISTED):
        await tags.count_featured(work.db, status.account_id, await tags.of_status(work.db, status.id), -1)


DROP_FILES: JobKind[FilesLeft] = JobKind(name="statuses.drop_files", payload=FilesLeft, handler=drop_files)
