"""Mails to the team about reports, and to people about what the team did."""

from __future__ import annotations

from html import escape

from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.moderation.tables import Report


def write(work: Work, to: str, subject: str, words: list[str], *, headers: dict[str, str] | None = None) -> None:
    """Whoever has no address that can be written to gets none."""
    try:
        checked_address(to)
    except MailRefused:
        return
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in words)
    html = f"<!doctype html><html><body>{paragraphs}</body></html>"
    post(work, Mail(to=to, subject=subject, text="\n\n".join(words) + "\n", html=html, headers=headers or {}))


def thread_headers(work: Work, report: Report) -> dict[str, str]:
    """The mails about one person's open reports answer the first of them, so that they are shown together."""
    root = f"<report-{report.thread_id}@{work.settings.domain.partition(':')[0]}>"
    if report.id == report.thread_id:
        return {"Message-ID": root}
    return {"In-Reply-To": root, "References": root}


def tell_of_report(work: Work, to: str, report: Report, reporter: Account, target: Account) -> None:
    subject = f"New report about {target.acct} at {work.settings.title} (#{report.thread_id})"
    words = [
        f"{reporter.acct} reported {target.acct}."
        if reporter.is_local
        else f"{reporter.domain} reported {target.acct}.",
        f"Reason: {report.category}",
        *([f"Posts: {len(report.status_ids)}"] if report.status_ids else []),
        *([f"They say: {report.comment}"] if report.comment else []),
        f"Report {report.id}: {work.settings.base_url}/api/v1/admin/reports/{report.id}",
    ]
    again = report.id != report.thread_id
    write(work, to, f"Re: {subject}" if again else subject, words, headers=thread_headers(work, report))
