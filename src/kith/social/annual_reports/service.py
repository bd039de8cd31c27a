"""A member's year in figures: asked for by them, counted by a worker, kept as it was counted."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Literal

import msgspec

from kith.base.clocks import is_recent
from kith.base.errors import NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.annual_reports import figures, store
from kith.social.annual_reports.figures import Year
from kith.social.annual_reports.tables import AnnualReport
from kith.social.ids import AccountId
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice

SCHEMA_VERSION = 2
FIRST_YEAR = 2000
CAMPAIGN = (12, 10)  # month and day from which on a year is summed up
GIVEN_UP_AFTER = timedelta(days=1)

State = Literal["available", "generating", "eligible", "ineligible"]


class MakeReport(msgspec.Struct):
    account_id: AccountId
    year: int


def campaign(now: datetime) -> int | None:
    """The year that is being summed up these days: in its last three weeks."""
    return now.year if (now.month, now.day) >= CAMPAIGN else None


def is_told(year: int, now: datetime) -> bool:
    """Whether a year is far enough for a report of it: those that are over, and this one in its last weeks."""
    return FIRST_YEAR <= year < now.year or year == campaign(now)


async def _kept(work: Work, me: AccountId, year: int) -> AnnualReport | None:
    return await store.find(work.db, me, year) if FIRST_YEAR <= year <= work.now.year else None


async def state_of(work: Work, me: AccountId, year: int) -> State:
    report = await _kept(work, me, year)
    if report is not None and report.made_at is not None:
        return "available"
    if report is not None and is_recent(report.asked_at, work.now, GIVEN_UP_AFTER):
        return "generating"
    is_eligible = is_told(year, work.now) and await figures.has_posted(work.db, me, Year(year))
    return "eligible" if is_eligible else "ineligible"


async def generate(work: Work, me: AccountId, year: int) -> State:
    """Have it counted, where it can be and is not yet. The state before."""
    state = await state_of(work, me, year)
    if state == "eligible":
        await store.ask(
            work.db, AnnualReport(work.new_id(), me, year, SCHEMA_VERSION, None, secrets.token_hex(8), work.now)
        )
        work.enqueue(MAKE, MakeReport(account_id=me, year=year), key=f"{me}:{year}")
    return state


async def make(work: Work, asked: MakeReport) -> None:
    """Its owner is told once it is there."""
    me, year = asked.account_id, asked.year
    account = await accounts.find(work.db, me)
    if account is None or account.is_gone:
        return
    found = await figures.collect(work.db, me, Year(year))
    if await store.finish(work.db, me, year, found, version=SCHEMA_VERSION, now=work.now):
        notice = Notice(me, f"annual_report:{year}:{me}", subject_id=year)
        await notifications.tell_anyhow(work, "annual_report", me, [notice])


async def find(work: Work, me: AccountId, year: int) -> AnnualReport:
    report = await _kept(work, me, year)
    if report is None or report.made_at is None:
        raise NotFound
    return report


async def mark_read(work: Work, me: AccountId, year: int) -> None:
    await find(work, me, year)
    await store.mark_read(work.db, me, year, work.now)


async def find_shared(work: Work, username: str, year: int, share_key: str) -> tuple[Account, AnnualReport]:
    """For whoever has the link, as long as its owner is here."""
    account = await accounts.find_named(work.db, username)
    if account is None or account.is_gone or not account.is_listed:
        raise NotFound
    report = await find(work, account.id, year)
    if not secrets.compare_digest(report.share_key.encode(), share_key.encode()):
        raise NotFound
    return account, report


MAKE: JobKind[MakeReport] = JobKind(name="annual_reports.make", payload=MakeReport, handler=make)
