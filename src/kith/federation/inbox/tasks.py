"""What was received is done: many at once where everything needed is known, alone where something must be fetched."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

import msgspec

from kith.base import asking
from kith.base.counted_log import log_counted
from kith.base.errors import Problem, Unavailable
from kith.base.http.sites import registrable_domain
from kith.base.ids import id_at
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.ended import store as ended
from kith.federation.inbox import store
from kith.federation.inbox.driver import Driver
from kith.federation.inbox.forwarded import LOOK_AGAIN
from kith.federation.inbox.passing_on import PASS_ON
from kith.federation.inbox.processing import process
from kith.federation.inbox.shortening import shortened
from kith.federation.inbox.tables import ALONE, FETCHING, Received
from kith.federation.inbox.turns import InboxTurns
from kith.federation.known import Missing
from kith.federation.vocabulary.incoming import DocumentRefused
from kith.social.accounts import store as accounts

__all__ = ["COMPLETE", "KINDS", "RETRY", "SWEEP", "TAKE", "SweepInbox", "TakeWaiting"]

BATCH = 50
BATCH_BYTES = 2 * 1024 * 1024  # or a single one
MOMENT_SECONDS = 0.1  # after which no other is begun in the same transaction
SITES = 500  # of which something waits, looked at together
LANE = "federation_inbox"  # who posts here does not wait for what others send
SWEPT = timedelta(minutes=1)
KEPT = timedelta(days=7)  # what could not be done by then is not done any more


class TakeWaiting(msgspec.Struct):
    """Something waits in the inbox."""


class SweepInbox(msgspec.Struct):
    """Something may wait in the inbox whose job was lost."""


class OneReceived(msgspec.Struct):
    id: int


async def take(work: Work, _payloads: Sequence[TakeWaiting]) -> None:
    """What waits, in turns of those who sent it, for a moment. One that fails keeps nobody else waiting."""
    turns = work.find(InboxTurns)
    waiting = await store.waiting_sites(work.db, turns.start, SITES)
    was_started, turns.start = turns.start, max(waiting) if len(waiting) == SITES else ""
    order = turns.order(waiting, BATCH)
    rows, has_more = await store.take(work.db, order, BATCH_BYTES)
    done = await _do_for_a_moment(work, turns, rows)
    await store.drop(work.db, [row.id for row, is_over in done if is_over])
    if has_more or len(done) < len(rows) or waiting.keys() - order or was_started or turns.start:
        work.enqueue(TAKE, TakeWaiting())


async def _do_for_a_moment(work: Work, turns: InboxTurns, rows: Sequence[Received]) -> list[tuple[Received, bool]]:
    """Those that were looked at, and which of them are over: at least one, the rest is for another transaction."""
    ids = sorted({row.account_id for row in rows})
    for sender in ids:  # in one order, or two workers would wait for each other
        await ended.take_turn(work.db, sender)
    senders = await accounts.find_all(work.db, ids)
    done: list[tuple[Received, bool]] = []
    began = at = time.monotonic()
    for row in rows:
        if done and at - began >= MOMENT_SECONDS:
            break
        sent_by = senders.get(row.account_id)
        with asking.caused_by("" if sent_by is None else registrable_domain(sent_by.domain)):
            done.append((row, await _is_done(work, row)))
        before, at = at, time.monotonic()
        turns.spent(row.site, at - before)
    return done


async def _is_done(work: Work, row: Received) -> bool:
    """Whether it is over; else a job of its own goes on with it."""
    later = await _attempt(work, row)
    if later is COMPLETE:
        await _put_off_fetching(work, row)
    elif later is not None:
        await store.put_off(work.db, row.id, ALONE)
        work.enqueue(later, OneReceived(row.id))
    return later is None


async def _put_off_fetching(work: Work, row: Received) -> None:
    """It may wait for hours: no more of it is kept than is read."""
    await store.put_off(work.db, row.id, FETCHING, shortened(row.body))
    work.enqueue(COMPLETE, OneReceived(row.id))


async def _attempt(work: Work, row: Received) -> JobKind[OneReceived] | None:
    """None when it is over; else which job goes on with it."""
    try:
        async with work.attempt():
            await process(work, row)
    except Missing:
        return COMPLETE
    except Unavailable:
        raise  # the database is away, for all of them
    except (DocumentRefused, Problem) as refused:
        _tell_dropped(row, refused)
    except Exception as error:  # noqa: BLE001 - it is tried again by itself, and kept if it fails for good
        log_counted("warning", "inbox.failed", type(error).__name__, activity=row.activity_id, cause=repr(error)[:300])
        return RETRY
    return None


def _tell_dropped(row: Received, refused: Exception) -> None:
    cause = str(refused)[:300]
    log_counted("info", "inbox.dropped", error=refused, activity=row.activity_id, sender=row.account_id, cause=cause)


async def sweep(work: Work, _payload: SweepInbox) -> None:
    """Looks before it writes: there is hardly ever anything."""
    if await store.any_waiting(work.db):
        await take(work, [])
    given_up = await store.older_than(work.db, id_at(work.now - KEPT))
    for _, activity, sender in given_up:
        log_counted("warning", "inbox.given_up", activity=activity, sender=sender)
    await store.drop(work.db, [id for id, *_ in given_up])


async def retry(work: Work, payload: OneReceived) -> None:
    row = await store.hold(work.db, payload.id)
    if row is None:
        return
    try:
        async with work.attempt():
            await process(work, row)
    except Missing:
        await _put_off_fetching(work, row)
        return
    except Unavailable:
        raise
    except (DocumentRefused, Problem) as refused:
        _tell_dropped(row, refused)
    await store.drop(work.db, [row.id])


async def complete(work: Work, payload: OneReceived) -> None:
    """Fetch what is missing, then do it."""
    row = await store.find(work.db, payload.id)
    if row is None:
        return
    try:
        await work.find(Driver).complete(row)
    except Unavailable:
        raise
    except (DocumentRefused, Problem) as refused:
        _tell_dropped(row, refused)
        await store.drop(work.db, [row.id])


TAKE: JobKind[TakeWaiting] = JobKind(
    name="federation_inbox.take", payload=TakeWaiting, many=take, together_in=LANE, is_harmless=True
)
SWEEP: JobKind[SweepInbox] = JobKind(
    name="federation_inbox.sweep", payload=SweepInbox, handler=sweep, together_in=LANE, is_harmless=True
)
RETRY: JobKind[OneReceived] = JobKind(
    name="federation_inbox.retry", payload=OneReceived, handler=retry, together_in=LANE, attempts=8, is_harmless=True
)
# Whoever names people of a slow server keeps nobody else waiting: what lasts leaves its place.
COMPLETE: JobKind[OneReceived] = JobKind(
    name="federation_inbox.complete",
    payload=OneReceived,
    handler=complete,
    outside=True,
    attempts=20,
    long_after=timedelta(seconds=1),
    most=64,
    is_harmless=True,
)
KINDS = (TAKE, SWEEP, RETRY, COMPLETE, LOOK_AGAIN, PASS_ON)
