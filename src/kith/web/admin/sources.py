"""/admin/sources: where people come from. What to give the other side, whether it answers, and how copying goes."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Conflict, Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.words.names import NAMES
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE = "/admin/sources"
MOST = 500
KINDS = ("ldap", "oauth", "saml", "scim")
_NAMES = {kind: NAMES[f"/sources/{kind}/"] for kind in KINDS}
# What a test of the connection tries, in the words of the API.
STEPS = (
    translatable("Sign in to the directory"),
    translatable("Find people"),
    translatable("Find groups"),
    translatable("Read the discovery document"),
    translatable("Read its keys"),
    translatable("Reach the sign-in page"),
    translatable("Reach the token endpoint"),
    translatable("Check its certificate"),
    translatable("Wait for an answer"),
)
_NO_CHANGES = {"create": 0, "update": 0, "delete": 0}
_NOTHING_YET = {"users": _NO_CHANGES, "groups": _NO_CHANGES, "read": {"users": 0, "groups": 0}}
# What the other side is given.
_GIVEN = {
    "callback_url": translatable("Redirect address"),
    "backchannel_logout_url": translatable("Sign-out address"),
    "root_url": translatable("SCIM address"),
}


@get("/admin/sources")
async def show_all(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "sources.html", None)
    found = await own_api.ask(exchange, "/api/v2/sources/all/", limit=MOST, ordering="name")
    return admin_page(
        exchange,
        "sources.html",
        visitor,
        heading=translatable("Sources"),
        rows=found["results"],
        names=_NAMES,
        kinds=[(f"/admin/records/sources/{kind}/new", one.one, one.about) for kind, one in _NAMES.items()],
    )


class SourcePage(msgspec.Struct, kw_only=True):
    """What happened on it, if anything."""

    test: dict[str, Any] | None = None
    rehearsal: dict[str, Any] | None = None
    token: str = ""
    problem: str = ""


@get("/admin/sources/{kind}/{pk}")
async def show(exchange: Exchange, kind: FromPath[str], pk: FromPath[str]) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "source.html", None)
    return await _page(exchange, visitor, kind, pk, SourcePage())


@post("/admin/sources/{kind}/{pk}", status=200)
async def act(exchange: Exchange, kind: FromPath[str], pk: FromPath[str]) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "source.html", None)
    await enter(exchange)
    path, does = _path(kind, pk), text_field(form, "do")
    happened = SourcePage()
    try:
        if does == "test" and kind != "scim":
            happened.test = await _call(exchange, f"{path}test/")
        elif does == "rehearse" and kind == "ldap":
            happened.rehearsal = await _call(exchange, f"{path}sync/", {"rehearse": True})
        elif does == "sync" and kind == "ldap":
            await _call(exchange, f"{path}sync/")
            return see_other(f"{PLACE}/{kind}/{pk}?waits=true")
        elif does == "new_token" and kind == "scim":
            happened.token = (await _call(exchange, f"{path}new_token/"))["token"]
        else:
            raise NotFound
    except Invalid as problem:
        happened.problem = " ".join(str(word) for words in problem.fields.values() for word in words)
        await exchange.end_work(commit=False)
    except Conflict as problem:
        happened.problem = problem.message
        await exchange.end_work(commit=False)
    return await _page(exchange, visitor, kind, pk, happened)


def _path(kind: str, pk: str) -> str:
    if kind not in KINDS:
        raise NotFound
    return f"/api/v2/sources/{kind}/{pk}/"


async def _call(exchange: Exchange, path: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = await own_api.call(exchange, "POST", path, json=values or {})
    told: dict[str, Any] = msgspec.json.decode(answer.body)
    return told


async def _page(exchange: Exchange, visitor: identity.Visitor, kind: str, pk: str, happened: SourcePage) -> Answer:
    source = await own_api.ask(exchange, _path(kind, pk))
    given = [(words, source[name]) for name, words in _GIVEN.items() if source.get(name)]
    return admin_page(
        exchange,
        "source.html",
        visitor,
        status=409 if happened.problem else 200,
        heading=source["name"],
        source=source,
        kind=kind,
        about=_NAMES[kind].about,
        given=given,
        sync=await _state(exchange, kind, pk),
        waits=exchange.query("waits") == "true",
        happened=happened,
    )


async def _state(exchange: Exchange, kind: str, pk: str) -> dict[str, Any] | None:
    if kind != "ldap":
        return None
    try:
        told: dict[str, Any] = await own_api.ask(exchange, f"{_path(kind, pk)}sync/status/")
    except Forbidden:
        return None
    if told["progress"] is not None:
        told["progress"] = {**_NOTHING_YET, **told["progress"]}
    return told


routes = [show_all, show, act]
