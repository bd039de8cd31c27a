"""Polls as rows and on the wire: the same for everyone but for one's own votes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Document, Instant, Session, any_of, command, insert_into, query
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.emojis import service as emojis
from kith.social.ids import AccountId
from kith.social.moments import maybe
from kith.social.statuses.tables import Poll, polls, votes

_encode = msgspec.json.Encoder().encode
_insert = command(insert_into(polls))
_by_ids = query(select(polls).where(any_of(polls.c.id, "ids")), Poll)
_held = query(select(polls).where(polls.c.id == bindparam("poll")).with_for_update(), Poll)
_own_votes = query(
    select(votes.c.poll_id, votes.c.choice)
    .where(and_(votes.c.account_id == bindparam("me"), any_of(votes.c.poll_id, "ids")))
    .order_by(votes.c.poll_id, votes.c.id),
    tuple,
)
_voters = query(select(votes.c.account_id).where(votes.c.poll_id == bindparam("poll")).distinct(), int)
_add_vote = command(insert_into(votes))
_tally = command(
    update(polls)
    .where(polls.c.id == bindparam("poll"))
    .values(tallies=bindparam("tallies", type_=Document()), voters_count=bindparam("voters"))
)
_told = command(
    update(polls)
    .where(polls.c.id == bindparam("poll"))
    .values(
        tallies=bindparam("tallies", type_=Document()),
        voters_count=bindparam("voters"),
        fetched_at=bindparam("now", type_=Instant()),
    )
)
_reset = command(delete(votes).where(votes.c.poll_id == bindparam("poll")))
_rewrite = command(
    update(polls)
    .where(polls.c.id == bindparam("poll"))
    .values(
        options=bindparam("options", type_=Document()),
        multiple=bindparam("multiple", type_=polls.c.multiple.type),
        hide_totals=bindparam("hide_totals", type_=polls.c.hide_totals.type),
        expires_at=bindparam("expires_at", type_=Instant()),
        ended_at=bindparam("ended_at", type_=Instant()),
    )
)
_remove = command(delete(polls).where(polls.c.id == bindparam("poll")))
_over = query(
    select(polls)
    .where(and_(polls.c.expires_at <= bindparam("now", type_=Instant()), polls.c.ended_at.is_(None)))
    .order_by(polls.c.expires_at)
    .limit(100),
    Poll,
)
_end = command(
    update(polls)
    .where(and_(polls.c.id == bindparam("poll"), polls.c.ended_at.is_(None)))
    .values(ended_at=bindparam("now", type_=Instant()))
)


async def insert(db: Session, poll: Poll) -> None:
    await db.run(_insert, **{name: getattr(poll, name) for name in Poll.__struct_fields__})


async def find_all(db: Session, ids: Sequence[int]) -> dict[int, Poll]:
    return {poll.id: poll for poll in await db.all(_by_ids, ids=list(ids))} if ids else {}


async def hold(db: Session, poll_id: int) -> Poll | None:
    """The poll, kept from other votes until this work ends."""
    await db.begin()
    return await db.one(_held, poll=poll_id)


async def own_votes(db: Session, me: AccountId, ids: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for poll_id, choice in await db.all(_own_votes, me=me, ids=list(ids)):
        found.setdefault(poll_id, []).append(choice)
    return found


async def voters(db: Session, poll_id: int) -> list[int]:
    return await db.all(_voters, poll=poll_id)


async def add_votes(db: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Raises `Taken` where somebody voted for the same already."""
    await db.many(_add_vote, list(rows))


async def tally(
    db: Session, poll_id: int, tallies: list[int], voters_count: int | None, *, fetched_at: datetime | None = None
) -> None:
    """`fetched_at`: when its server has told."""
    if fetched_at is None:
        await db.run(_tally, poll=poll_id, tallies=tallies, voters=voters_count)
    else:
        await db.run(_told, poll=poll_id, tallies=tallies, voters=voters_count, now=fetched_at)


async def rewrite(db: Session, poll: Poll, *, reset: bool, ended_at: datetime | None = None) -> None:
    """As it is now; what was voted counts no more where the choices are others.

    `ended_at`: since when everybody knows that it is over, where they do.
    """
    await db.run(
        _rewrite,
        poll=poll.id,
        options=poll.options,
        multiple=poll.multiple,
        hide_totals=poll.hide_totals,
        expires_at=poll.expires_at,
        ended_at=ended_at,
    )
    if reset:
        await db.run(_reset, poll=poll.id)
        await tally(db, poll.id, [0] * len(poll.options), 0)


async def remove(db: Session, poll_id: int) -> None:
    await db.run(_remove, poll=poll_id)


async def over(db: Session, now: datetime) -> list[Poll]:
    """Those that have ended without anybody having been told."""
    return await db.all(_over, now=now)


async def end(db: Session, poll_id: int, now: datetime) -> bool:
    return await db.run(_end, poll=poll_id, now=now) == 1


async def render(work: Work, ids: Sequence[int], me: AccountId | None) -> dict[int, bytes]:
    """Each poll as JSON, by id."""
    rows = await find_all(work.db, list(dict.fromkeys(ids)))
    own = await own_votes(work.db, me, list(rows)) if me is not None and rows else {}
    used = await _emojis(work, list(rows.values()))
    return {id: _encode(_shape(work, poll, me, own.get(id, []), used.get(id, []))) for id, poll in rows.items()}


async def _emojis(work: Work, rows: Sequence[Poll]) -> dict[int, list[dict[str, Any]]]:
    """Those of the author's own server, by poll; most polls name none, and nothing is looked up then."""
    naming = [poll for poll in rows if emojis.codes_in(poll.options)]
    authors = await accounts.find_all(work.db, [poll.account_id for poll in naming])
    known = [(poll, authors[poll.account_id].domain) for poll in naming if poll.account_id in authors]
    used = await emojis.used_in_each(work, [(poll.options, domain) for poll, domain in known])
    return {poll.id: found for (poll, _), found in zip(known, used, strict=True)}


def _shape(work: Work, poll: Poll, me: AccountId | None, own: list[int], used: list[dict[str, Any]]) -> dict[str, Any]:
    is_over = poll.expires_at is not None and poll.expires_at <= work.now
    hidden = poll.hide_totals and not is_over
    told: dict[str, Any] = {
        "id": str(poll.id),
        "expires_at": maybe(poll.expires_at),
        "expired": is_over,
        "multiple": poll.multiple,
        "votes_count": sum(poll.tallies),
        "voters_count": poll.voters_count,
        "options": [
            {"title": title, "votes_count": None if hidden else count}
            for title, count in zip(poll.options, poll.tallies, strict=True)
        ],
        "emojis": used,
    }
    if me is None:
        return told
    return told | {"voted": bool(own) or poll.account_id == me, "own_votes": own}
