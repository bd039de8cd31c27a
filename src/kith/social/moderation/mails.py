"""Mails to the team about reports, and to people about what the team did."""

from __future__ import annotations

from kith.base.catalogues import catalogue
from kith.base.languages import first_known
from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.moderation.tables import Report, Strike

__all__ = [
    "APPEAL",
    "APPEAL_APPROVED",
    "APPEAL_REJECTED",
    "APPROVAL",
    "REPORT",
    "SENTENCES",
    "STRIKE",
    "TEXTS",
    "TRENDS",
    "tell_of_report",
    "tell_of_strike",
]

# What happened to an account, in a sentence.
SENTENCES = {
    "none": "You have received a warning from the people who run {site}.",
    "disable": "Your account at {site} was disabled. You cannot use it, but your profile and posts stay.",
    "delete_statuses": "Some of your posts at {site} were deleted because they broke the rules.",
    "mark_statuses_as_sensitive": "Some of your posts at {site} were marked as sensitive.",
    "sensitive": "From now on, all media you post at {site} is marked as sensitive.",
    "silence": "Your account at {site} was limited: only people who follow you see your posts.",
    "suspend": "Your account at {site} was suspended. Your profile and posts are hidden, and deleted after 30 days.",
}
REPORT = MailText(
    name="report",
    subject="New report about {person} at {site} (#{thread})",
    body="""{reporter} reported {person}.

Reason: {reason}

Posts: {posts}

They say: {comment}

Report {number}: {link}""",
    values={
        "person": "bob",
        "reporter": "ada",
        "reason": "spam",
        "posts": "2",
        "comment": "Only adverts.",
        "number": "117",
        "thread": "117",
        "link": "https://our.example/admin/reports/117",
    },
)
STRIKE = MailText(
    name="strike",
    subject="About your account {name} at {site}",
    body="""{what}

{text}

If you think that this is wrong, you can appeal within 20 days: {link}""",
    values={
        "name": "ada",
        "what": "You have received a warning from the people who run Our place.",
        "text": "Please be kind.",
        "link": "https://our.example/appeal/12/the-key",
    },
)
APPEAL = MailText(
    name="appeal",
    subject="{person} appeals a decision at {site}",
    body="""{person} appeals the decision {decision}.

{text}

Appeal {number}: {link}""",
    values={
        "person": "bob",
        "decision": "silence",
        "text": "It was a joke.",
        "number": "7",
        "link": "https://our.example/admin/appeals",
    },
)
_ABOUT = {"name": "ada"}
APPEAL_APPROVED = MailText(
    name="appeal_approved",
    subject="About your account {name} at {site}",
    body="Your appeal was approved: the decision about your account was taken back.",
    values=_ABOUT,
)
APPEAL_REJECTED = MailText(
    name="appeal_rejected",
    subject="About your account {name} at {site}",
    body="Your appeal was looked at, and the decision about your account stays.",
    values=_ABOUT,
)
APPROVAL = MailText(
    name="approval_needed",
    subject="New accounts at {site} need approval now",
    body="""Nobody of the team has been at {site} for a week.

So that nobody abuses this, whoever signs up waits for your approval from now on.

To open them again, choose under "Who may join": {link}""",
    values={"link": "https://our.example/admin/settings"},
)
TRENDS = MailText(
    name="trends",
    subject="New trends to review at {site}",
    body="""These would be shown as trends if somebody reviewed them:

Hashtags: {tags}

Links: {links}

Posts: {posts}

Review them: {link}""",
    values={
        "tags": "#garden, #tea",
        "links": "https://news.example/tea",
        "posts": "https://our.example/@ada/1",
        "link": "https://our.example/admin/trends",
    },
)
TEXTS = (REPORT, STRIKE, APPEAL, APPEAL_APPROVED, APPEAL_REJECTED, APPROVAL, TRENDS)


def thread_headers(work: Work, report: Report) -> dict[str, str]:
    """The mails about one person's open reports answer the first of them, so that they are shown together."""
    root = f"<report-{report.thread_id}@{work.settings.domain.partition(':')[0]}>"
    if report.id == report.thread_id:
        return {"Message-ID": root}
    return {"In-Reply-To": root, "References": root}


def tell_of_report(work: Work, to: str, locale: str, report: Report, reporter: Account, target: Account) -> None:
    send(
        work,
        REPORT,
        to,
        locale,
        thread_headers(work, report),
        person=target.acct,
        reporter=reporter.acct if reporter.is_local else str(reporter.domain),
        reason=report.category,
        posts=str(len(report.status_ids) or ""),
        comment=report.comment,
        number=str(report.id),
        thread=str(report.thread_id),
        link=f"{work.settings.base_url}/admin/reports/{report.id}",
    )


def tell_of_strike(work: Work, to: str, locale: str, account: Account, strike: Strike, key: str) -> None:
    say = catalogue("mails", first_known([locale]) or "en").translate
    send(
        work,
        STRIKE,
        to,
        locale,
        name=account.acct,
        what=say(SENTENCES[strike.action]).replace("{site}", work.settings.title),
        text=strike.text,
        link=f"{work.settings.base_url}/appeal/{strike.id}/{key}",
    )
