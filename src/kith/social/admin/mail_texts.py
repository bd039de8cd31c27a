"""The words of our mails, as the team may change them: each mail, in each language, and back to what is shipped."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.languages import LANGUAGES
from kith.base.mail_texts import (
    BRACE,
    LONGEST_SUBJECT,
    STORED,
    MailText,
    WrittenMail,
    filled_in,
    find_leaks,
    own_texts,
    shipped,
)
from kith.base.stored_settings import read_stored, store_settings
from kith.base.work import Work
from kith.identity import for_staff
from kith.social.announcements.mailing import ANNOUNCEMENT
from kith.social.archives.mails import READY
from kith.social.moderation import mails as moderation
from kith.social.notification_emails.mails import NOTIFICATION
from kith.social.registration.mails import WELCOME
from kith.social.staff import Staff, record

__all__ = ["EVERY", "MailDraft", "change", "find", "preview", "reset", "told"]

LONGEST_BODY = 5000
EVERY: tuple[MailText, ...] = (
    WELCOME,
    *for_staff.MAIL_TEXTS,
    NOTIFICATION,
    ANNOUNCEMENT,
    READY,
    *moderation.TEXTS,
)
_by_name = {one.name: one for one in EVERY}


class MailDraft(msgspec.Struct, kw_only=True):
    language: str
    subject: str = ""
    body: str = ""


def find(name: str) -> MailText:
    if name not in _by_name:
        raise NotFound
    return _by_name[name]


def told(work: Work, text: MailText) -> dict[str, Any]:
    """As it is sent now, in each language; `values` are what may stand in braces, with an example of each."""
    own = own_texts(work, text.name)
    return {
        "name": text.name,
        "values": text.examples,
        "required": list(text.needs),
        "texts": {language: _one(text, language, own.get(language)) for language in LANGUAGES},
    }


def _one(text: MailText, language: str, own: Any) -> dict[str, Any]:
    subject, body = shipped(text, language)
    if isinstance(own, dict):
        subject, body = str(own["subject"]), str(own["body"])
    return {"subject": subject, "body": body, "is_own": isinstance(own, dict)}


async def change(work: Work, by: Staff, name: str, draft: MailDraft) -> dict[str, Any]:
    by.check("manage_settings")
    text = find(name)
    subject, body = _checked(text, draft)
    before = _one(text, draft.language, own_texts(work, name).get(draft.language))
    if (subject, body) == (before["subject"], before["body"].strip()):
        return told(work, text)
    return await _write(work, by, text, draft.language, {"subject": subject, "body": body}, before)


async def reset(work: Work, by: Staff, name: str, language: str) -> dict[str, Any]:
    """Back to the words that come with Kith."""
    by.check("manage_settings")
    text = find(name)
    _check_language(language)
    before = own_texts(work, name).get(language)
    return told(work, text) if before is None else await _write(work, by, text, language, None, before)


async def _write(
    work: Work, by: Staff, text: MailText, language: str, own: dict[str, str] | None, before: Any
) -> dict[str, Any]:
    await work.db.hold("social.mail_texts")
    every = dict((await read_stored(work.db)).get(STORED) or {})
    mine = {code: one for code, one in (every.get(text.name) or {}).items() if code != language}
    if own is not None:
        mine[language] = own
    every = {name: one for name, one in every.items() if name != text.name}
    if mine:
        every[text.name] = mine
    await store_settings(work, {STORED: every or None}, work.now)
    after = own or dict(zip(("subject", "body"), shipped(text, language), strict=True))
    shown = {name: before[name] for name in ("subject", "body")}
    await record(work, by, "update_settings", mail=text.name, language=language, before=shown, after=after)
    return told(work, text) | {
        "texts": {code: _one(text, code, mine.get(code)) for code in LANGUAGES},
    }


def preview(work: Work, name: str, draft: MailDraft) -> WrittenMail:
    """The mail as somebody would get it, with the examples for values."""
    text = find(name)
    subject, body = _checked(text, draft)
    return filled_in(text, subject, body, text.examples | {"site": work.settings.title}, draft.language)


def _check_language(language: str) -> None:
    if language not in LANGUAGES:
        raise Invalid(fields={"language": [Complaint("is not included in the list", "inclusion")]})


def _checked(text: MailText, draft: MailDraft) -> tuple[str, str]:
    _check_language(draft.language)
    given = {"subject": draft.subject.strip(), "body": draft.body.replace("\r\n", "\n").strip()}
    complaints: dict[str, list[str]] = {}
    for field, most in (("subject", LONGEST_SUBJECT), ("body", LONGEST_BODY)):
        wrong = _complaints(text, given[field], most)
        if wrong:
            complaints[field] = wrong
    missing = [name for name in text.needs if f"{{{name}}}" not in given["body"]]
    if missing and given["body"]:
        complaints.setdefault("body", []).extend(
            Complaint(f"must contain {_braced(name)}, or the mail is of no use") for name in missing
        )
    for field, key in find_leaks(text, given["subject"], given["body"]):
        complaints.setdefault(field, []).append(_leak(field, key))
    if "\n" in given["subject"]:
        complaints.setdefault("subject", []).append(Complaint("must be one line"))
    if complaints:
        raise Invalid(fields=complaints)
    return given["subject"], given["body"]


def _leak(field: str, key: str) -> Complaint:
    if not key:
        return Complaint("cannot hold other addresses: with the link of this mail, people come in")
    if field == "subject":
        return Complaint(f"cannot contain {_braced(key)}: with it, people come in")
    return Complaint(f"must have {_braced(key)} alone on a line: with it, people come in")


def _complaints(text: MailText, given: str, most: int) -> list[str]:
    if not given:
        return [Complaint("can't be blank", "blank")]
    if len(given) > most:
        return [Complaint(f"is too long (maximum is {most} characters)", "too_long")]
    wrong: list[str] = []
    for found in BRACE.finditer(given):
        line = given.count("\n", 0, found.start()) + 1
        column = found.start() - (given.rfind("\n", 0, found.start()) + 1) + 1
        if found[1] is None:
            wrong.append(Complaint(f"line {line}, column {column}: this brace stands alone"))
        elif found[1] not in text.examples:
            wrong.append(Complaint(f"line {line}, column {column}: {_braced(found[1])} is not known in this mail"))
    return wrong[:5]


def _braced(name: str) -> str:
    return f"{{{name}}}"
