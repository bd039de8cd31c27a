"""Reports: made by members, dealt with by the team."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.instance import store as instance
from kith.social.moderation import mails, store, team
from kith.social.moderation.facts import ReportChanged, ReportCreated
from kith.social.moderation.tables import Note, Report
from kith.social.notification_emails import store as notification_emails
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice
from kith.social.staff import SUPERUSER, Staff, record, role_of

CATEGORIES = ("spam", "legal", "violation", "other")
LONGEST_COMMENT = 1000
LONGEST_NOTE = 2000
MOST_NAMED = 200


class ReportDraft(msgspec.Struct, kw_only=True):
    target_id: AccountId
    status_ids: list[int] = []
    collection_ids: list[int] = []
    comment: str = ""
    forward: bool = False
    forward_to_domains: list[str] = []
    category: str = "other"
    rule_ids: list[str] = []


async def create(work: Work, reporter: Account, draft: ReportDraft) -> Report:
    """The team hears of it at once; reports about somebody who has an open one join its mails."""
    target = await accounts.find(work.db, draft.target_id)
    if target is None or not target.is_listed or target.deleted_at is not None:
        raise NotFound
    category = "violation" if draft.rule_ids else draft.category or "other"
    await _check(work, reporter, draft, category)
    return await _file(work, reporter, target, draft, category)


async def create_from_elsewhere(
    work: Work, reporter: Account, target: Account, comment: str, status_ids: Sequence[int]
) -> Report:
    """A report that another server has passed on; who has made it stays there. The posts are the target's own."""
    draft = ReportDraft(target_id=target.id, status_ids=[*status_ids][:MOST_NAMED], comment=comment)
    return await _file(work, reporter, target, draft, "other")


async def _file(work: Work, reporter: Account, target: Account, draft: ReportDraft, category: str) -> Report:
    await work.db.hold(f"reports:{target.id}")
    id = work.new_id()
    report = Report(
        id=id,
        account_id=reporter.id,
        target_id=target.id,
        category=category,
        comment=draft.comment,
        status_ids=[str(one) for one in dict.fromkeys(draft.status_ids)],
        rule_ids=list(dict.fromkeys(draft.rule_ids)),
        collection_ids=[str(one) for one in dict.fromkeys(draft.collection_ids)],
        forwarded=draft.forward and not target.is_local,
        forward_to_domains=draft.forward_to_domains if draft.forward and not target.is_local else [],
        thread_id=await store.thread_of(work.db, target.id) or id,
        assigned_id=None,
        action_taken_at=None,
        action_taken_by_id=None,
        created_at=work.now,
        updated_at=work.now,
    )
    await store.add_report(work.db, report)
    await _tell_team(work, report, reporter, target)
    work.announce(ReportCreated(report_id=id))
    return report


async def _check(work: Work, reporter: Account, draft: ReportDraft, category: str) -> None:
    complaints: dict[str, list[str]] = {}
    if len(draft.comment) > LONGEST_COMMENT:
        words = f"is too long (maximum is {LONGEST_COMMENT} characters)"
        complaints["comment"] = [Complaint(words, "too_long")]
    if category not in CATEGORIES:
        complaints["category"] = [Complaint("is not included in the list", "inclusion")]
    if max(len(draft.status_ids), len(draft.collection_ids), len(draft.forward_to_domains)) > MOST_NAMED:
        complaints["status_ids"] = [Complaint(f"is too long (maximum is {MOST_NAMED} entries)", "too_many")]
    if complaints:
        raise Invalid(fields=complaints)
    await _check_rules(work, category, draft.rule_ids)
    seen = await store.reported_among(work.db, reporter.id, draft.target_id, draft.status_ids)
    made = await store.collections_among(work.db, draft.target_id, draft.collection_ids)
    if not seen.issuperset(draft.status_ids) or not made.issuperset(draft.collection_ids):
        raise NotFound


async def _check_rules(work: Work, category: str, rule_ids: Sequence[str]) -> None:
    if not rule_ids:
        return
    if category != "violation":
        raise Invalid(fields={"rule_ids": [Complaint("must be blank", "present")]})
    known = {str(rule.id) for rule in await instance.all_rules(work.db)}
    if not known.issuperset(rule_ids):
        raise Invalid(fields={"rule_ids": [Complaint("does not reference valid rules")]})


async def _tell_team(work: Work, report: Report, reporter: Account, target: Account) -> None:
    members = [one for one in await team.who_may(work, "manage_reports") if one.account_id != target.id]
    notices = [
        Notice(one.account_id, f"admin.report:{report.id}:{one.account_id}", subject_id=report.id)
        for one in members
        if one.account_id is not None
    ]
    await notifications.tell_anyhow(work, "admin.report", reporter.id, notices)
    unwilling = await notification_emails.not_mailed_about_reports(work.db, [one.account_id for one in notices])
    for one in members:
        if one.account_id in unwilling:
            continue
        mails.tell_of_report(work, one.email, one.locale, report, reporter, target)


# The team


async def find(work: Work, report_id: int) -> Report:
    found = await store.find_report(work.db, report_id)
    if found is None:
        raise NotFound
    return found


def may_see(by: Staff, report: Report) -> bool:
    """Nobody below an administrator deals with a report about themselves, or learns who has made it."""
    return report.target_id != by.account_id or by.is_above(SUPERUSER - 1)


async def _refuse_mightier(work: Work, by: Staff, report: Report) -> Account | None:
    """Refuse a report about oneself, or about somebody who stands above; returns whom it is about."""
    by.check("manage_reports")
    if not may_see(by, report):
        raise NotFound
    target = await accounts.find(work.db, report.target_id)
    role = await role_of(work, target) if target is not None else None
    if role is not None and not by.is_above(role.position - 1):
        raise Forbidden
    return target


async def _change(work: Work, by: Staff, report: Report, action: str, **changed: object) -> Report:
    target = await _refuse_mightier(work, by, report)
    changed["updated_at"] = work.now
    await store.change(work.db, "report", report.id, changed)
    await record(work, by, action, target, report={"id": str(report.id)})
    work.announce(ReportChanged(report_id=report.id))
    return await find(work, report.id)


async def change(
    work: Work, by: Staff, report: Report, *, category: str | None, rule_ids: Sequence[str] | None
) -> Report:
    """Another category, or other rules; only with a violation do rules stay."""
    wanted = category or ("violation" if rule_ids else report.category)
    if wanted not in CATEGORIES:
        raise Invalid(fields={"category": [Complaint("is not included in the list", "inclusion")]})
    await _check_rules(work, wanted, rule_ids or [])
    kept = report.rule_ids if rule_ids is None else list(dict.fromkeys(rule_ids))
    rules = kept if wanted == "violation" else []
    return await _change(work, by, report, "update_report", category=wanted, rule_ids=rules)


async def assign(work: Work, by: Staff, report: Report, to: AccountId | None) -> Report:
    action = "unassigned_report" if to is None else "assigned_to_self_report"
    return await _change(work, by, report, action, assigned_id=to)


async def resolve(work: Work, by: Staff, report: Report) -> Report:
    return await _change(work, by, report, "resolve_report", action_taken_at=work.now, action_taken_by_id=by.account_id)


async def reopen(work: Work, by: Staff, report: Report) -> Report:
    return await _change(work, by, report, "reopen_report", action_taken_at=None, action_taken_by_id=None)


async def add_note(work: Work, by: Staff, report_id: int, content: str) -> Note:
    """Among the team; the person reported never sees it."""
    report = await find(work, report_id)
    await _refuse_mightier(work, by, report)
    content = content.strip()
    if not content:
        raise Invalid(fields={"content": [Complaint("can't be blank", "blank")]})
    if len(content) > LONGEST_NOTE:
        words = f"is too long (maximum is {LONGEST_NOTE} characters)"
        raise Invalid(fields={"content": [Complaint(words, "too_long")]})
    if by.account_id is None:
        raise NotFound
    note = Note(work.new_id(), report.id, by.account_id, content, work.now)
    await store.add_note(work.db, note)
    await record(work, by, "create_report_note", report={"id": str(report.id)})
    return note


async def remove_note(work: Work, by: Staff, note_id: int) -> None:
    note = await store.find_note(work.db, note_id)
    if note is None:
        raise NotFound
    await _refuse_mightier(work, by, await find(work, note.report_id))
    await store.remove(work.db, "note", note_id)
    await record(work, by, "destroy_report_note", report={"id": str(note.report_id)})
