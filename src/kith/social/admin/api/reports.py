"""Reports, for those of the team who deal with them."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, number, post, put
from kith.base.work import Work
from kith.social.admin.report_entities import render_admin_reports, render_note
from kith.social.moderation import reports, store
from kith.social.moderation.tables import Report
from kith.social.pages import answer, list_of
from kith.social.staff import Staff, TheStaff, staff

LIMIT, MOST = 100, 200
READ = staff("manage_reports", scope="admin:read:reports")
WRITE = staff("manage_reports", scope="admin:write:reports")
ONE = "/api/v1/admin/reports/{id}"


class ReportQuery(msgspec.Struct, kw_only=True):
    resolved: bool = False
    unresolved: bool = False
    account_id: str = ""
    target_account_id: str = ""


class ReportChange(msgspec.Struct, kw_only=True):
    category: str | None = None
    rule_ids: list[str] | None = None


class About(msgspec.Struct, kw_only=True):
    report_id: str


class NewNote(msgspec.Struct, kw_only=True):
    report_id: str
    content: str


@get("/api/v1/admin/reports", guards=[READ])
async def show_reports(exchange: Exchange, work: Work, by: TheStaff, asked: FromQuery[ReportQuery]) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_reports(
        work.db,
        cursor,
        resolved=None if asked.resolved and asked.unresolved else asked.resolved,
        account=number(asked.account_id) if asked.account_id else None,
        target=number(asked.target_account_id) if asked.target_account_id else None,
    )
    shown = await render_admin_reports(work, [row for row in rows if reports.may_see(by, row)], by)
    return list_of(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD3)


async def _shown(exchange: Exchange, work: Work, by: Staff, report: Report) -> Answer:
    if not reports.may_see(by, report):
        raise NotFound
    [shown] = await render_admin_reports(work, [report], by)
    return answer(exchange, shown)


@get(ONE, guards=[READ])
async def show_report(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, by, await reports.find(work, id))


@put(ONE, guards=[WRITE])
async def change_report(
    exchange: Exchange, work: Work, by: TheStaff, changed: FromRequest[ReportChange], id: FromPath[int]
) -> Answer:
    report = await reports.find(work, id)
    report = await reports.change(work, by, report, category=changed.category, rule_ids=changed.rule_ids)
    return await _shown(exchange, work, by, report)


@post(f"{ONE}/assign_to_self", guards=[WRITE])
async def assign_to_self(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    report = await reports.assign(work, by, await reports.find(work, id), by.account_id)
    return await _shown(exchange, work, by, report)


@post(f"{ONE}/unassign", guards=[WRITE])
async def unassign(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, by, await reports.assign(work, by, await reports.find(work, id), None))


@post(f"{ONE}/resolve", guards=[WRITE])
async def resolve(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, by, await reports.resolve(work, by, await reports.find(work, id)))


@post(f"{ONE}/reopen", guards=[WRITE])
async def reopen(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, by, await reports.reopen(work, by, await reports.find(work, id)))


@get("/api/v1/admin/report_notes", guards=[READ])
async def show_notes(work: Work, by: TheStaff, about: FromQuery[About]) -> list[dict[str, Any]]:
    """What the team has written to itself about a report."""
    report = await reports.find(work, number(about.report_id))
    if not reports.may_see(by, report):
        raise NotFound
    return [render_note(note) for note in await store.notes_of(work.db, report.id)]


@post("/api/v1/admin/report_notes", guards=[WRITE])
async def create_note(work: Work, by: TheStaff, new: FromRequest[NewNote]) -> dict[str, Any]:
    return render_note(await reports.add_note(work, by, number(new.report_id), new.content))


@delete("/api/v1/admin/report_notes/{id}", guards=[WRITE])
async def delete_note(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await reports.remove_note(work, by, id)
    return {}


routes = [
    show_reports,
    show_report,
    change_report,
    assign_to_self,
    unassign,
    resolve,
    reopen,
    show_notes,
    create_note,
    delete_note,
]
