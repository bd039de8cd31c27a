"""/settings/profile: what others read about oneself, and who finds it."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Upload
from kith.base.routing import get, post
from kith.social.accounts.service import LONGEST_DESCRIPTION, LONGEST_FIELD, LONGEST_NAME, LONGEST_NOTE, MOST_FIELDS
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.settings.forms import read_own_files, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import is_ticked, refusal, saved, texts_of
from kith.web.shown_posts import emphasised, written

PAGE = "/settings/profile"
SENT = BodyLimits(max_file_bytes=20 * 1024 * 1024, max_files=4)
TICKS = (
    "locked",
    "bot",
    "discoverable",
    "indexable",
    "noindex",
    "hide_collections",
    "show_media",
    "show_media_replies",
    "show_featured",
)
_TEXTS = ("display_name", "avatar_description", "header_description")


@get(PAGE)
async def show_profile(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, member)


async def _page(
    exchange: Exchange, member: PageMember, *, status: int = 200, problem: str = "", typed: dict[str, Any] | None = None
) -> Answer:
    if not member.account.may_act:
        raise Forbidden
    kept = await own_api.ask(exchange, "/api/v1/profile")
    kept["noindex"] = member.account.noindex
    me = await own_api.ask(exchange, f"/api/v1/accounts/{member.account.id}")
    suggested = await own_api.ask(exchange, "/api/v1/featured_tags/suggestions")
    return await settings_page(
        exchange,
        "settings/profile.html",
        member.visitor,
        part="profile",
        status=status,
        problem=problem,
        kept=kept,
        values=_values(kept) | (typed or {}),
        preview=_preview(me, member),
        verified=[one["verified_at"] for one in kept["formatted_fields"]],
        suggested=[one["name"] for one in suggested],
        rows=range(MOST_FIELDS),
        longest={"name": LONGEST_NAME, "note": LONGEST_NOTE, "field": LONGEST_FIELD, "about": LONGEST_DESCRIPTION},
    )


def _values(kept: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: kept[name] for name in (*_TEXTS, "note", *TICKS)},
        "fields": [(one["name"], one["value"]) for one in kept["fields"]],
        "attribution_domains": "\n".join(kept["attribution_domains"]),
    }


def _preview(me: dict[str, Any], member: PageMember) -> dict[str, Any]:
    """As others see it."""
    emojis = me["emojis"]
    return {
        **me,
        "shown_name": Markup(emphasised(me["display_name"] or member.account.username, emojis)),  # noqa: S704 - escaped
        "shown_note": Markup(written(me["note"], emojis)),  # noqa: S704 - cleaned
    }


@post(PAGE)
async def change_profile(exchange: Exchange) -> Answer:
    form = await read_own_files(exchange, SENT)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    values = _typed(form)
    rows = [{"name": name, "value": value} for name, value in values["fields"]]
    wanted = {**values, "fields_attributes": rows, "attribution_domains": [values["attribution_domains"]]}
    del wanted["fields"]
    wanted |= {name: file for name in ("avatar", "header") if (file := _file(form, name)) is not None}
    path = "/api/v1/accounts/update_credentials"
    problem = await refusal(exchange, own_api.call(exchange, "PATCH", path, form=wanted))
    if problem:
        return await _page(exchange, member, status=422, problem=problem, typed=values)
    return await saved(exchange, member.visitor, PAGE)


def _typed(form: dict[str, Any]) -> dict[str, Any]:
    names, values = texts_of(form, "field_names"), texts_of(form, "field_values")
    note = form.get("note", "")
    return {
        **{name: text_field(form, name) for name in (*_TEXTS, "attribution_domains")},
        **{name: is_ticked(form, name) for name in TICKS},
        "note": note if isinstance(note, str) else "",
        "fields": list(zip(names, values, strict=False))[:MOST_FIELDS],
    }


def _file(form: dict[str, Any], name: str) -> Upload | None:
    """Browsers also send the field of a file that nobody chose."""
    given = form.get(name)
    return given if isinstance(given, Upload) and given.size else None


routes = [show_profile, change_profile]
