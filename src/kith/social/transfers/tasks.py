"""Files are imported some rows at a time, each step a job and a transaction of its own: a crash costs one step."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.errors import Problem
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.transfers import applying, clearing, looking_up, store
from kith.social.transfers.held import RecordPlace
from kith.social.transfers.tables import Import, ImportRow

__all__ = ["FORGET", "IMPORT", "ForgetImports", "ImportStep"]

ROWS = 10  # that one step does
FORGOTTEN = 100  # in one round
KEPT_FOR = timedelta(days=30)
PATIENCE = timedelta(minutes=15)  # for servers that answer slowly, or not at all


class ImportStep(msgspec.Struct):
    """`place`: up to where it was looked for what the file does not name.

    `misses`: how many rows in a row hosts did not know.
    """

    import_id: int
    place: RecordPlace = RecordPlace()
    misses: dict[str, int] = {}


class ForgetImports(msgspec.Struct):
    """Those that are long over."""


async def take_step(work: Work, step: ImportStep) -> None:
    """People and posts are looked up elsewhere first; then the rows are done, and marked as such."""
    found = await store.find(work.db, step.import_id)
    actor = None if found is None else await accounts.find(work.db, found.account_id)
    if found is None or found.state == "finished" or actor is None:
        return
    if await _is_barred(work, actor):
        await store.set_state(work.db, found.id, "finished", work.now)
        return
    at = work.now
    if found.state == "clearing":
        step = await _clear(work, found, actor, step)
    else:
        rows = await store.waiting(work.db, found.id, ROWS)
        told = await looking_up.look_up(work, found, rows, step.misses)
        await work.db.begin()
        if await _is_barred(work, await accounts.find(work.db, found.account_id)):
            await store.set_state(work.db, found.id, "finished", work.now)
            return
        await _do(work, found, actor, [row for row in rows if row.id in told.found], told.found)
        if len(told.found) == len(rows) < ROWS:
            await store.set_state(work.db, found.id, "finished", work.now)
            return
        step, at = ImportStep(found.id, misses=told.misses), work.now + timedelta(seconds=told.wait)
    work.enqueue(IMPORT, step, at=at, key=f"{found.id}:{work.new_id()}")


async def _is_barred(work: Work, actor: Account | None) -> bool:
    """What somebody began ends with their account, their lockdown, or the team's word."""
    if actor is None or not actor.may_act:
        return True
    return actor.user_id is not None and await identity.is_shut_out(work, actor.user_id)


async def _clear(work: Work, found: Import, actor: Account, step: ImportStep) -> ImportStep:
    """Take away some of what the file does not name; the next step goes on behind it."""
    surplus = await clearing.find_surplus(work, found, step.place)
    await work.db.begin()
    await clearing.take_away(work, actor, found.kind, surplus)
    if surplus.place is None:
        await store.set_state(work.db, found.id, "running")
    return ImportStep(found.id, surplus.place or RecordPlace())


async def _do(work: Work, found: Import, actor: Account, rows: list[ImportRow], known: dict[int, int | None]) -> None:
    """A row that cannot be done stays behind; the others go on."""
    done: list[int] = []
    for row in rows:
        who = known[row.id]
        if who is None:
            continue
        try:
            async with work.attempt():
                await applying.apply(work, actor, found.kind, row.data, who)
        except Problem:
            continue
        done.append(row.id)
    if rows:
        await store.settle(work.db, found.id, done, [row.id for row in rows if row.id not in done])


async def forget(work: Work, _payload: ForgetImports) -> None:
    await store.forget_before(work.db, work.now - KEPT_FOR, FORGOTTEN)


IMPORT: JobKind[ImportStep] = JobKind(
    name="transfers.import",
    payload=ImportStep,
    handler=take_step,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    patience=PATIENCE,
)
FORGET: JobKind[ForgetImports] = JobKind(
    name="transfers.forget", payload=ForgetImports, handler=forget, is_harmless=True
)
