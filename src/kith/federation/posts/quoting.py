"""What posts quote, and whether whoever is quoted agrees (FEP-044f): the rows; asking other servers is elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.federation.posts import store
from kith.federation.posts.facts import QuoteSeen
from kith.federation.posts.tables import RemotePost
from kith.federation.posts.threads import ASIDE
from kith.federation.vocabulary.incoming import IncomingNote
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusEdited, StatusQuoted
from kith.social.statuses.tables import Status

__all__ = ["FoundQuote", "accept", "end", "find_quote", "follow_quote", "name_quoted", "requote"]

ACCEPTED, PENDING, REJECTED, REVOKED, DELETED = "accepted", "pending", "rejected", "revoked", "deleted"
MOST_STEPS = 5


class FoundQuote(msgspec.Struct, frozen=True, kw_only=True):
    """`unknown` is the id of what is quoted where nobody here knows it."""

    state: str | None = None
    status: Status | None = None
    unknown: str | None = None
    stamp: str | None = None


NO_QUOTE = FoundQuote()


async def find_quote(work: Work, author: Account, note: IncomingNote) -> FoundQuote:
    """A quote of oneself needs nobody's leave; any other is pending until the word of the quoted is found."""
    if note.quote is None:
        return NO_QUOTE
    if note.quote.uri is None:
        return FoundQuote(state=DELETED)
    found = await statuses.find_by_uri(work.db, note.quote.uri)
    if found is None:
        return FoundQuote(state=PENDING, unknown=note.quote.uri, stamp=note.quote.stamp)
    if found.deleted_at is not None or found.reblog_of_id is not None:
        return FoundQuote(state=DELETED)
    if found.account_id == author.id:
        return FoundQuote(state=ACCEPTED, status=found, stamp=note.quote.stamp)
    return FoundQuote(state=PENDING, status=found, stamp=note.quote.stamp)


def follow_quote(work: Work, status: Status, quote: FoundQuote, steps: int = 0, *, is_aside: bool = False) -> None:
    """Whether one of ours may be quoted is decided when that is asked for, and by nothing that others write.

    `is_aside`: what the post answers is followed, too. Only one of two ways goes far: if both did, and all that they
    lead to, one post could make us ask for millions.
    """
    is_of_others = quote.status is None or not quote.status.local
    is_near = steps < MOST_STEPS or steps == ASIDE
    if quote.state == PENDING and is_of_others and (quote.unknown or quote.stamp) and is_near:
        work.announce(QuoteSeen(status_id=status.id, steps=max(steps, ASIDE) if is_aside else steps))


async def requote(work: Work, author: Account, status: Status, note: IncomingNote) -> dict[str, Any]:
    """What is otherwise now about what a post quotes, once it was sent anew."""
    before = await store.find(work.db, status.id) or RemotePost(status_id=status.id)
    found = await find_quote(work, author, note)
    now_id = None if found.status is None else found.status.id
    is_same = now_id == status.quoted_id and found.unknown == before.quoted
    state = status.quote_state if is_same and _stays(status, found) else found.state
    stamp = found.stamp or (before.stamp if is_same else None)
    if (found.unknown, stamp) != (before.quoted, before.stamp):
        await store.save(work.db, msgspec.structs.replace(before, quoted=found.unknown, stamp=stamp))
    if (state, now_id) != (status.quote_state, status.quoted_id):
        await _uncount(work, status)
        if state == ACCEPTED and now_id is not None:
            await statuses.count(work.db, now_id, quotes=1)
    if found.state == PENDING and state != ACCEPTED:
        follow_quote(work, status, found)
    wanted: dict[str, Any] = {"quoted_id": now_id, "quote_state": state}
    return {name: value for name, value in wanted.items() if getattr(status, name) != value}


def _stays(status: Status, found: FoundQuote) -> bool:
    """What was decided is not undecided by sending the post again; its own author decides of their own."""
    return status.quote_state is not None and found.state == PENDING


async def _uncount(work: Work, status: Status) -> None:
    if status.quoted_id is not None and status.quote_state == ACCEPTED:
        await statuses.count(work.db, status.quoted_id, quotes=-1)


async def name_quoted(work: Work, status: Status, quoted: Status) -> Status:
    """What a post quotes has come to be known."""
    is_own = quoted.account_id == status.account_id
    await work.db.begin()
    await store.change(work.db, status.id, quoted=None)
    await statuses.change(work.db, status.id, {"quoted_id": quoted.id})
    named = msgspec.structs.replace(status, quoted_id=quoted.id)
    if is_own:
        await accept(work, named, quoted, stamp=None)
    return named


async def accept(work: Work, status: Status, quoted: Status, *, stamp: str | None) -> bool:
    """Whoever is quoted agrees; False where that was known."""
    await work.db.begin()
    if stamp is not None:
        beside = await store.find(work.db, status.id) or RemotePost(status_id=status.id)
        beside.stamp, beside.stamp_checked_at, beside.quoted = stamp, work.now, None
        await store.save(work.db, beside)
    if status.quote_state == ACCEPTED and status.quoted_id == quoted.id:
        return False
    await statuses.change(work.db, status.id, {"quote_state": ACCEPTED, "quoted_id": quoted.id})
    await statuses.count(work.db, quoted.id, quotes=1)
    work.announce(StatusEdited(status_id=status.id, account_id=status.account_id))
    if not status.local:
        work.announce(StatusQuoted(status_id=status.id, quoted_id=quoted.id, account_id=status.account_id))
    return True


async def end(work: Work, status_id: StatusId, *, asked: bool = False) -> None:
    """Whoever is quoted does not agree, or no longer. `asked`: that is their answer to our question."""
    status = await statuses.find(work.db, status_id)
    if status is None or status.quote_state not in (PENDING, ACCEPTED) or status.deleted_at is not None:
        return
    await work.db.begin()
    was_pending = status.quote_state == PENDING
    await _uncount(work, status)
    await statuses.change(work.db, status.id, {"quote_state": REJECTED if was_pending and asked else REVOKED})
    await store.change(work.db, status.id, stamp=None, stamp_checked_at=None)
    work.announce(StatusEdited(status_id=status.id, account_id=status.account_id))
