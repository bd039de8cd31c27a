"""/settings/preferences: how one posts and reads, in which language, and what e-mails tell of."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.languages import LANGUAGES
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.social.statuses.languages import NAMES
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.page_language import cookie
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import is_ticked, refusal, saved, texts_of
from kith.web.time_zones import is_zone, zones_by_region
from kith.web.translation import translatable

PAGE = "/settings/preferences"
API, EMAILS = "/api/v1/preferences", "/api/v1/notifications/emails"
VISIBILITIES = (
    ("public", translatable("Public")),
    ("unlisted", translatable("Quiet public: not in timelines of strangers")),
    ("private", translatable("Followers only")),
)
QUOTES = (
    ("public", translatable("Anyone")),
    ("followers", translatable("My followers")),
    ("nobody", translatable("Just me")),
)
MEDIA = (
    ("default", translatable("Hide media marked as sensitive")),
    ("show_all", translatable("Show all media")),
    ("hide_all", translatable("Hide all media")),
)
MAILS = (
    ("mention", translatable("Somebody mentions you")),
    ("follow", translatable("Somebody follows you")),
    ("follow_request", translatable("Somebody asks to follow you")),
    ("quote", translatable("Somebody quotes you")),
    ("favourite", translatable("Somebody favourites your post")),
    ("reblog", translatable("Somebody boosts your post")),
)
_CHOICES = {
    "posting:default:visibility": "visibility",
    "posting:default:quote_policy": "quote_policy",
    "posting:default:language": "language",
    "reading:expand:media": "media",
}
_TICKS = {
    "posting:default:sensitive": "sensitive",
    "reading:expand:spoilers": "spoilers",
    "reading:autoplay:gifs": "gifs",
}


@get(PAGE)
async def show_preferences(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, member)


async def _page(exchange: Exchange, member: PageMember, *, status: int = 200, problem: str = "") -> Answer:
    if not member.account.may_act:
        raise Forbidden
    visitor = member.visitor
    return await settings_page(
        exchange,
        "settings/preferences.html",
        visitor,
        part="preferences",
        status=status,
        problem=problem,
        kept=await own_api.ask(exchange, API),
        mails=await own_api.ask(exchange, EMAILS),
        is_staff=visitor.is_superuser or visitor.user.role in identity.TEAM,
        visibilities=VISIBILITIES,
        quotes=QUOTES,
        media=MEDIA,
        kinds_of_mail=MAILS,
        languages_of_posts=sorted(NAMES.items(), key=lambda one: one[1]),
        zones=zones_by_region(),
    )


@post(PAGE)
async def change_preferences(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    problem = await refusal(exchange, _save(exchange, form))
    if problem:
        return await _page(exchange, member, status=422, problem=problem)
    headers = await _page_language_and_zone(exchange, member.visitor, form)
    done = await saved(exchange, member.visitor, PAGE)
    return Answer(done.status, (*done.headers, *headers), done.body)


async def _save(exchange: Exchange, form: dict[str, Any]) -> None:
    wanted: dict[str, Any] = {name: text_field(form, field) for name, field in _CHOICES.items()}
    wanted |= {name: is_ticked(form, field) for name, field in _TICKS.items()}
    wanted["reading:languages"] = texts_of(form, "languages")
    await own_api.call(exchange, "PATCH", API, json=wanted)
    mails = {name: is_ticked(form, f"mail_{name}") for name, _ in MAILS} | {"always": is_ticked(form, "mail_always")}
    if "mail_reports_shown" in form:
        mails["report"] = is_ticked(form, "mail_report")
    await own_api.call(exchange, "PATCH", EMAILS, json=mails)


async def _page_language_and_zone(exchange: Exchange, visitor: identity.Visitor, form: dict[str, Any]) -> Headers:
    """Names that are none change nothing; an empty zone is that of the browser."""
    if visitor.is_acting:
        return ()
    language, zone = text_field(form, "page_language"), text_field(form, "timezone")
    chosen = {"locale": language} if language in LANGUAGES else {}
    if "timezone" in form and (zone == "" or is_zone(zone)):
        chosen["timezone"] = zone
    if chosen:
        await identity.account_settings.choose(exchange.work, visitor, **chosen)
    return (cookie(exchange, language),) if "locale" in chosen else ()


routes = [show_preferences, change_preferences]
