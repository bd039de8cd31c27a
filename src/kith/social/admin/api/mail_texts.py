"""The words of our mails, for those who may change the settings."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.social.admin import mail_texts
from kith.social.staff import TheStaff, staff

PLACE = "/api/v1/admin/mail_texts"
SEE, CHANGE = staff("manage_settings", scope="admin:read"), staff("manage_settings", scope="admin:write")


class WhichLanguage(msgspec.Struct, kw_only=True):
    language: str = ""


@get(PLACE, guards=[SEE])
async def show_mails(work: Work) -> list[dict[str, Any]]:
    """Every mail that the server sends to people."""
    return [mail_texts.told(work, one) for one in mail_texts.EVERY]


@get(f"{PLACE}/{{name}}", guards=[SEE])
async def show_mail(work: Work, name: FromPath[str]) -> dict[str, Any]:
    return mail_texts.told(work, mail_texts.find(name))


@put(f"{PLACE}/{{name}}", guards=[CHANGE])
async def change_mail(
    work: Work, by: TheStaff, draft: FromRequest[mail_texts.MailDraft], name: FromPath[str]
) -> dict[str, Any]:
    return await mail_texts.change(work, by, name, draft)


@delete(f"{PLACE}/{{name}}", guards=[CHANGE])
async def reset_mail(work: Work, by: TheStaff, name: FromPath[str], asked: FromQuery[WhichLanguage]) -> dict[str, Any]:
    """Back to the words that come with Kith."""
    return await mail_texts.reset(work, by, name, asked.language)


@post(f"{PLACE}/{{name}}/preview", guards=[SEE])
async def preview_mail(work: Work, draft: FromRequest[mail_texts.MailDraft], name: FromPath[str]) -> dict[str, Any]:
    """As somebody would get it; nothing is kept or sent."""
    made = mail_texts.preview(work, name, draft)
    return {"subject": made.subject, "text": made.text, "html": made.html}


routes = [show_mails, show_mail, change_mail, reset_mail, preview_mail]
