"""What has been undone or done before, so that it neither begins too late nor happens twice.

Two things are remembered of an activity. One that was undone before it came is over for some hours: it is late. One
that was undone after it came may begin anew under the same id, as some servers do it; what was signed before its end,
though, is only sent again.
"""

from __future__ import annotations

from datetime import timedelta

from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.known import Known
from kith.social.accounts.tables import Account

__all__ = ["is_late", "remember_end", "was_done"]

# How long a signature can count in the end, and what `ended` adds by itself.
_SIGNED_FOR = timedelta(hours=14)
_REPLAYED, _DONE = "replayed:", "done:"


async def is_late(work: Work, known: Known, sender: Account, uri: str | None) -> bool:
    if uri is None:
        return False
    if await ended.is_ended(work.db, uri, sender.uri, work.now):
        return True
    at = await ended.ended_at(work.db, _REPLAYED + uri, sender.uri)
    return at is not None and known.signed_at is not None and known.signed_at + _SIGNED_FOR <= at


async def remember_end(work: Work, known: Known, sender: Account, uri: str | None, *, was_there: bool) -> None:
    """Of something that was undone, and had come before or had not."""
    if uri is None:
        return
    if not was_there:
        await ended.remember(work.db, uri, sender.uri, work.now)
    elif known.signed_at is not None:
        await ended.remember(work.db, _REPLAYED + uri, sender.uri, known.signed_at + _SIGNED_FOR)


async def was_done(work: Work, sender: Account, uri: str | None) -> bool:
    """For what leaves nothing behind that bears its id: whether it was done already. From now on it was."""
    if uri is None:
        return False
    if await ended.is_ended(work.db, _DONE + uri, sender.uri, work.now):
        return True
    await ended.remember(work.db, _DONE + uri, sender.uri, work.now + _SIGNED_FOR)
    return False
