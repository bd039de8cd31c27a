"""What a post said before is kept, but not without end: whoever edits for ever fills no disk with it."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.social.media import service as media
from kith.social.media import store as media_store
from kith.social.statuses import polls, store
from kith.social.statuses.tables import Edit, Status

__all__ = ["MOST_FILES", "MOST_REVISIONS", "begin_history", "keep_revision", "snapshot"]

MOST_REVISIONS = 100
MOST_FILES = 600  # of one post: what its revisions may have, and half as many that none has any more


async def begin_history(work: Work, before: Edit) -> None:
    """Of a post that is edited for the first time: what it said at first."""
    if not await store.count_edits(work.db, before.status_id):
        await store.insert_edit(work.db, before)


async def keep_revision(work: Work, status: Status, revision: Edit) -> None:
    """What it says now; where enough is kept, in place of the latest.

    The files that nothing has any more go many at once: to tell which they are, all revisions are read, and what is
    written in them may be long.
    """
    if await store.count_edits(work.db, status.id) < MOST_REVISIONS:
        await store.insert_edit(work.db, revision)
        return
    await store.replace_latest(work.db, revision)
    files = await media_store.ids_of_status(work.db, status.id, most=MOST_FILES + 1)
    if len(files) > MOST_FILES:
        named = {*status.media_ids, *await store.files_of_edits(work.db, status.id)}
        await media.delete_with(work, [id for id in files if id not in named])


async def snapshot(work: Work, status: Status, *, at_edit: bool = False) -> Edit:
    """The status as it is, to be kept."""
    attached = await media_store.of_ids(work.db, status.media_ids)
    found = (await polls.find_all(work.db, [status.poll_id])) if status.poll_id is not None else {}
    poll = found.get(status.poll_id) if status.poll_id is not None else None
    return Edit(
        id=work.new_id(),
        status_id=status.id,
        text=status.text,
        content=status.content,
        spoiler_text=status.spoiler_text,
        sensitive=status.sensitive,
        media=[msgspec.to_builtins(attached[id]) for id in status.media_ids if id in attached],
        poll_options=poll.options if poll else None,
        quoted_id=status.quoted_id,
        created_at=work.now if at_edit else status.created_at,
    )
