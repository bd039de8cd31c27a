"""/admin/settings: what the community is called, who may join, what is public, and how it looks."""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Upload
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import complaints_of
from kith.web.admin.proof_of_work import is_asked, switch
from kith.web.admin.questions import Option, Question
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_files, read_own_form
from kith.web.translation import translatable

__all__ = ["routes"]

SETTINGS = "/admin/settings"
API, BRANDS = "/api/v1/admin/settings", "/api/v2/core/brands/"
SENT = BodyLimits(max_file_bytes=256 << 10, max_files=2)
PICTURES = {"logo": "branding_logo", "favicon": "branding_favicon"}
_MIMES = ((b"\x89PNG", "image/png"), (b"\xff\xd8", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))


class CommunitySetting(msgspec.Struct, frozen=True):
    """One setting on a page."""

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    options: tuple[tuple[str, str], ...] = ()


_HTML = translatable("Plain text or HTML.")
GROUPS: tuple[tuple[str, str, tuple[CommunitySetting, ...]], ...] = (
    (
        "community",
        translatable("Community"),
        (
            CommunitySetting("title", translatable("Name")),
            CommunitySetting("description", translatable("In a few words"), "lines"),
            CommunitySetting("contact_email", translatable("E-mail address for questions")),
            CommunitySetting("extended_description", translatable("Description on the about page"), "lines", _HTML),
            CommunitySetting("privacy_policy", translatable("Privacy policy"), "lines", _HTML),
            CommunitySetting("terms_of_service", translatable("Terms of service"), "lines", _HTML),
        ),
    ),
    (
        "joining",
        translatable("Who may join"),
        (
            CommunitySetting(
                "registrations",
                translatable("New members"),
                "choice",
                options=(
                    ("open", translatable("Anybody can sign up")),
                    ("approval", translatable("Anybody can ask, and the team decides")),
                    ("closed", translatable("Only who is invited")),
                ),
            ),
            CommunitySetting("confirm_email", translatable("New members confirm their e-mail address"), "tick"),
            CommunitySetting(
                "minimum_age", translatable("Minimum age"), "number", translatable("0 asks nobody for their age.")
            ),
        ),
    ),
    (
        "public",
        translatable("What everybody can see"),
        (
            CommunitySetting("publish_directory", translatable("The directory of people who want to be found"), "tick"),
            CommunitySetting("publish_activity", translatable("How many people are active"), "tick"),
            CommunitySetting("publish_peers", translatable("The servers that we know"), "tick"),
            CommunitySetting(
                "publish_domain_blocks",
                translatable("The servers that we block"),
                "choice",
                options=(
                    ("off", translatable("Nobody sees them")),
                    ("members", translatable("Members see them")),
                    ("on", translatable("Everybody sees them")),
                ),
            ),
        ),
    ),
    (
        "trends",
        translatable("Trends"),
        (
            CommunitySetting("trends", translatable("Show what many people take up"), "tick"),
            CommunitySetting("trendable_by_default", translatable("Also what the team has not reviewed"), "tick"),
        ),
    ),
)


@get(SETTINGS)
async def show_settings(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, SETTINGS)
    return admin_page(exchange, "settings.html", None) if visitor is None else await _page(exchange, visitor)


@post(SETTINGS)
async def save_settings(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, SETTINGS)
    if visitor is None:
        return admin_page(exchange, "settings.html", None)
    fixed = (await own_api.ask(exchange, API))["fixed"]
    asked = [one for _, _, group in GROUPS for one in group if one.name not in fixed]
    values = {one.name: _read(one, form.get(one.name)) for one in asked}
    try:
        await own_api.call(exchange, "PATCH", API, json=values)
    except Invalid as problem:
        errors, said = complaints_of(exchange, problem, values)
        await exchange.end_work(commit=False)
        return await _page(exchange, visitor, values=values, errors=errors, said=said)
    await identity.leave_message(exchange.work, visitor.user.id, translatable("Your changes count from now on."))
    return see_other(SETTINGS)


def _read(one: CommunitySetting, given: Any) -> Any:
    if one.kind == "tick":
        return given == "true"
    text = given.replace("\r\n", "\n").strip() if isinstance(given, str) else ""
    if one.kind == "number":
        return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text
    return text


def _question(one: CommunitySetting, told: dict[str, Any], fixed: list[str], errors: dict[str, list[str]]) -> Question:
    value = told.get(one.name, "")
    return Question(
        name=one.name,
        label=one.label,
        kind="fixed" if one.name in fixed else one.kind,
        value=value if one.kind == "tick" else str(value),
        options=[Option(value, words) for value, words in one.options],
        help=one.help,
        errors=errors.get(one.name, ()),
    )


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    *,
    values: dict[str, Any] | None = None,
    errors: dict[str, list[str]] | None = None,
    said: list[str] | None = None,
) -> Answer:
    told = await own_api.ask(exchange, API)
    fixed, told = told["fixed"], told | (values or {})
    left = await identity.take_messages(exchange.work, visitor.user.id)
    return admin_page(
        exchange,
        "settings.html",
        visitor,
        status=422 if said else 200,
        heading=translatable("Settings"),
        about=translatable("What you change here counts at once."),
        groups=[
            (id, words, [_question(one, told, fixed, errors or {}) for one in group]) for id, words, group in GROUPS
        ],
        action=SETTINGS,
        said=said or [],
        messages=[{"level": identity.LEVELS[one.level], "message": one.message} for one in left],
        looks=visitor.is_superuser,
        is_proven=visitor.is_superuser and await is_asked(exchange),
    )


# Logo and proof of work are kept with the identity half, and need its rights.


async def _mighty(exchange: Exchange) -> identity.Visitor | None:
    visitor = await enter_with(exchange, SETTINGS)
    if visitor is not None and not visitor.is_superuser:
        raise NotFound
    return visitor


@post(f"{SETTINGS}/looks")
async def save_looks(exchange: Exchange) -> Answer:
    """Pictures become part of the brand that counts for every address."""
    form = await read_own_files(exchange, SENT)
    visitor = await _mighty(exchange)
    if visitor is None:
        return admin_page(exchange, "settings.html", None)
    values: dict[str, str] = {}
    for name, field in PICTURES.items():
        if form.get(f"no_{name}") == "true":
            values[field] = ""
        elif isinstance(form.get(name), Upload):
            picture = _as_url(form[name])
            if picture:
                values[field] = picture
    try:
        await _change_brand(exchange, values)
    except Invalid:
        await exchange.end_work(commit=False)
        words = translatable("That is no picture that pages can show: use PNG, JPEG, GIF or WebP, at most 256 KB.")
        return await _page(exchange, visitor, said=[words])
    return see_other(SETTINGS)


def _as_url(upload: Upload) -> str:
    upload.file.seek(0)
    data = upload.file.read()
    if not data:
        return ""
    mime = next((mime for start, mime in _MIMES if data.startswith(start)), "unknown")
    return f"data:{mime};base64,{b64encode(data).decode()}"


async def _change_brand(exchange: Exchange, values: dict[str, str]) -> None:
    if not values:
        return
    brands = (await own_api.ask(exchange, BRANDS, limit=100))["results"]
    default = next((one for one in brands if one["default"]), None)
    if default is not None:
        await own_api.call(exchange, "PATCH", f"{BRANDS}{default['pk']}/", json=values)
        return
    host = urlsplit(exchange.server.works.settings.base_url).hostname or "localhost"
    await own_api.call(exchange, "POST", BRANDS, json={"domain": host, "default": True, **values})


@post(f"{SETTINGS}/proof")
async def save_proof(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await _mighty(exchange)
    if visitor is None:
        return admin_page(exchange, "settings.html", None)
    await switch(exchange, on=form.get("on") == "true")
    return see_other(f"{SETTINGS}#proof")


routes = [show_settings, save_settings, save_looks, save_proof]
