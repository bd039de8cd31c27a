"""Taking one's follows, lists, mutes, blocks and bookmarks along, and bringing them here."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.base.errors import Conflict, Malformed, NotFound
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.relationships.store import whole
from kith.social.transfers import held, store
from kith.social.transfers.formats import KINDS, read_rows, write_rows
from kith.social.transfers.tables import Import
from kith.social.transfers.tasks import IMPORT, ImportStep

__all__ = ["FILES", "RECENT", "begin", "counts", "export", "failures", "recent"]

# The files by the names that Mastodon gives them.
FILES = {
    "follows": "following",
    "lists": "lists",
    "mutes": "muting",
    "blocks": "blocking",
    "domain_blocks": "domain_blocking",
    "bookmarks": "bookmarks",
}
MOST = 200_000  # rows of one file
RECENT = 10
LONGEST_NAME = 200


async def export(work: Work, me: AccountId, kind: str) -> bytes:
    """All of one kind, as a file."""
    lines = [one.line async for one in held.every(work, me, kind, MOST)]
    return await asyncio.to_thread(write_rows, kind, lines)


def _said(value: bool) -> str:
    return "true" if value else "false"


async def counts(work: Work, me: AccountId) -> dict[str, int]:
    """How much there is of each kind."""
    ties = await whole.count_ties(work.db, me)
    return {
        **ties._asdict(),
        "lists": await lists.count(work.db, me),
        "bookmarks": await store.count_bookmarks(work.db, me),
    }


async def begin(work: Work, actor: Account, kind: str, content: bytes, *, filename: str, overwrite: bool) -> Import:
    """Keep the rows of a file; a job does the rest, some at a time. One file of somebody's goes at a time."""
    if kind not in KINDS:
        raise Malformed("Please choose what is in the file.")
    rows = await asyncio.to_thread(read_rows, kind, content)
    await work.db.hold(f"imports:{actor.id}")
    if await store.count_running(work.db, actor.id):
        raise Conflict("Another file of yours is being imported. Please wait until it is done.")
    new = Import(
        id=work.new_id(),
        account_id=actor.id,
        kind=kind,
        overwrite=overwrite,
        filename=filename[:LONGEST_NAME],
        state="clearing" if overwrite else "running",
        total=len(rows),
        done=0,
        failed=0,
        created_at=work.now,
        finished_at=None,
    )
    await store.insert(work.db, new, [{"id": work.new_id(), "data": row} for row in rows])
    work.enqueue(IMPORT, ImportStep(import_id=new.id), key=str(new.id))
    return new


async def recent(work: Work, me: AccountId) -> list[Import]:
    return await store.recent(work.db, me, RECENT)


async def failures(work: Work, me: AccountId, import_id: int) -> tuple[Import, bytes]:
    """What could not be done, as a file that can be sent again."""
    found = await store.find(work.db, import_id)
    if found is None or found.account_id != me:
        raise NotFound
    rows = await store.failed(work.db, import_id)
    return found, write_rows(found.kind, [_line(found.kind, row.data) for row in rows])


def _line(kind: str, data: dict[str, Any]) -> list[str]:
    if kind == "following":
        flags = [_said(data.get("reblogs", True)), _said(data.get("notify", False))]
        return [data["acct"], *flags, ", ".join(data.get("languages", ()))]
    if kind == "muting":
        return [data["acct"], _said(data.get("hide_notifications", True))]
    return [data[name] for name in ("list", "acct", "domain", "uri") if name in data]
