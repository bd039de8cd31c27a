"""/admin/mails: the words of every mail, in each language, with what may stand in them, a preview, and a way back."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.languages import LANGUAGES
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import complaints_of, field_words
from kith.web.admin.questions import Question, WrongPlace
from kith.web.page_language import language_of
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

MAILS = "/admin/mails"
API, SETTINGS = "/api/v1/admin/mail_texts", "/api/v1/admin/settings"
GROUPS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (translatable("New members"), (
        ("welcome", translatable("Welcome")),
        ("signup_waiting", translatable("To the team, when somebody wants to join")),
        ("signup_approved", translatable("When somebody was approved")),
        ("signup_rejected", translatable("When somebody was turned down")),
        ("account_confirmation", translatable("Confirming a new account")),
        ("confirm_address", translatable("Confirming an e-mail address")),
    )),
    (translatable("Signing in"), (
        ("password_reset", translatable("Choosing a new password")),
        ("password_changed", translatable("When the password was changed")),
        ("address_asked", translatable("When another e-mail address was asked for")),
        ("address_changed", translatable("When the e-mail address was changed")),
        ("factor_added", translatable("When a sign-in method was added")),
        ("factor_removed", translatable("When a sign-in method was removed")),
        ("factor_taken", translatable("When the team removed a sign-in method")),
        ("app_password", translatable("When an app needs an app password")),
        ("address_tried", translatable("When somebody used an address that is taken")),
        ("account_locked", translatable("When the team locked an account")),
        ("account_locked_itself", translatable("When somebody locked their own account")),
    )),
    (translatable("Access"), (
        ("access_asked", translatable("To whoever decides, when somebody asks for access")),
        ("access_approved", translatable("When access was given")),
        ("access_refused", translatable("When access was refused")),
        ("access_ended", translatable("When access has ended")),
        ("access_unanswered", translatable("When nobody has decided in time")),
    )),
    (translatable("Community"), (
        ("notification", translatable("Notifications")),
        ("announcement", translatable("Announcements")),
        ("archive_ready", translatable("When an archive is ready")),
        ("strike", translatable("When the team has decided about an account")),
        ("appeal_approved", translatable("When an appeal was approved")),
        ("appeal_rejected", translatable("When an appeal was rejected")),
    )),
    (translatable("For the team"), (
        ("report", translatable("New reports")),
        ("appeal", translatable("New appeals")),
        ("trends", translatable("Trends to review")),
        ("approval_needed", translatable("When new accounts need approval")),
        ("event", translatable("Events that rules tell of")),
    )),
)  # fmt: skip
LABELS = {name: label for _, group in GROUPS for name, label in group}


@get(MAILS)
async def show_mails(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, MAILS)
    return admin_page(exchange, "mails/list.html", None) if visitor is None else await _list(exchange, visitor)


async def _list(exchange: Exchange, visitor: identity.Visitor, **more: Any) -> Answer:
    told = {one["name"]: one for one in await own_api.ask(exchange, API)}
    settings = await own_api.ask(exchange, SETTINGS)
    left = await identity.take_messages(exchange.work, visitor.user.id)
    shown = {"footer": settings["mail_footer"], "errors": [], **more}
    return admin_page(
        exchange,
        "mails/list.html",
        visitor,
        status=422 if shown["errors"] else 200,
        groups=[
            (words, [(told[name], label, _subject(exchange, told[name])) for name, label in group])
            for words, group in GROUPS
        ],
        is_fixed="mail_footer" in settings["fixed"],
        messages=[{"level": identity.LEVELS[one.level], "message": one.message} for one in left],
        **shown,
    )


def _subject(exchange: Exchange, mail: dict[str, Any]) -> str:
    """As somebody might get it."""
    subject = str(mail["texts"][_language(language_of(exchange))]["subject"])
    return re.sub(r"\{(\w+)\}", lambda gap: str(mail["values"].get(gap[1], gap[0])), subject)


@post(MAILS)
async def save_footer(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, MAILS)
    if visitor is None:
        return admin_page(exchange, "mails/list.html", None)
    footer = text_field(form, "mail_footer").replace("\r\n", "\n")
    try:
        await own_api.call(exchange, "PATCH", SETTINGS, json={"mail_footer": footer})
    except Invalid as problem:
        _, said = complaints_of(exchange, problem)
        await exchange.end_work(commit=False)
        return await _list(exchange, visitor, footer=footer, errors=said)
    await identity.leave_message(exchange.work, visitor.user.id, translatable("Your changes count from now on."))
    return see_other(MAILS)


@get(f"{MAILS}/{{name}}")
async def show_mail(exchange: Exchange, name: FromPath[str]) -> Answer:
    visitor = await enter_with(exchange, MAILS)
    if visitor is None:
        return admin_page(exchange, "mails/one.html", None)
    return await _one(exchange, visitor, name, _language(exchange.query("language")))


@post(f"{MAILS}/{{name}}")
async def save_mail(exchange: Exchange, name: FromPath[str]) -> Answer:
    """Save it, look at it first (`_preview`), or take it back to what is shipped (`_reset`)."""
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, MAILS)
    if visitor is None:
        return admin_page(exchange, "mails/one.html", None)
    if name not in LABELS:
        raise NotFound
    language = _language(text_field(form, "language"))
    back = f"{MAILS}/{name}?language={language}"
    if form.get("_reset") == "true":
        await own_api.call(exchange, "DELETE", f"{API}/{name}", query=[("language", language)])
        await identity.leave_message(
            exchange.work, visitor.user.id, translatable("The mail is as it was shipped again.")
        )
        return see_other(back)
    given = {one: text_field(form, one).replace("\r\n", "\n") for one in ("subject", "body")}
    sent = given | {"language": language}
    try:
        if form.get("_preview") == "true":
            made = await own_api.call(exchange, "POST", f"{API}/{name}/preview", json=sent)
            seen = msgspec.json.decode(made.body)
            return await _one(exchange, visitor, name, language, given=given, seen=seen)
        await own_api.call(exchange, "PUT", f"{API}/{name}", json=sent)
    except Invalid as problem:
        errors = field_words(exchange, problem)
        places = {one: _place(one, given[one], problem) for one in given}
        await exchange.end_work(commit=False)
        return await _one(exchange, visitor, name, language, given=given, errors=errors, places=places)
    await identity.leave_message(exchange.work, visitor.user.id, translatable("Your changes count from now on."))
    return see_other(back)


def _language(given: str) -> str:
    return given if given in LANGUAGES else "en"


def _place(name: str, value: str, problem: Invalid) -> WrongPlace | None:
    """The line that the first error names."""
    said = [str(one) for one in problem.fields.get(name, ())]
    return Question(name=name, label="", kind="code", value=value, errors=said).wrong_place


async def _one(
    exchange: Exchange,
    visitor: identity.Visitor,
    name: str,
    language: str,
    *,
    given: dict[str, str] | None = None,
    errors: dict[str, list[str]] | None = None,
    places: dict[str, WrongPlace | None] | None = None,
    seen: dict[str, str] | None = None,
) -> Answer:
    if name not in LABELS:
        raise NotFound
    told = await own_api.ask(exchange, f"{API}/{name}")
    left = await identity.take_messages(exchange.work, visitor.user.id)
    current = told["texts"][language]
    return admin_page(
        exchange,
        "mails/one.html",
        visitor,
        status=422 if errors else 200,
        name=name,
        label=LABELS[name],
        of=language,
        tongues=list(LANGUAGES.items()),
        given=given or {"subject": current["subject"], "body": current["body"]},
        is_own=current["is_own"],
        values=told["values"],
        required=told["required"],
        errors=errors or {},
        places=places or {"subject": None, "body": None},
        seen=seen,
        messages=[{"level": identity.LEVELS[one.level], "message": one.message} for one in left],
    )


routes = [show_mails, save_footer, show_mail, save_mail]
