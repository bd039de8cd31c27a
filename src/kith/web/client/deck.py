"""/deck: several timelines side by side. Which ones, and in which order, is kept in a cookie of the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from markupsafe import Markup

from kith.base.cookies import carried_cookie
from kith.base.errors import Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.social.text.parts import is_tag
from kith.web import own_api
from kith.web.client.drafts import id_in
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.notification_rows import NotificationGroups, named, rows_of
from kith.web.client.readers import reader_of
from kith.web.client.status_html import pieces
from kith.web.client.timelines import FEDERATED, HOME, LOCAL, Kind
from kith.web.page_language import language_of
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import Translator, translatable, translator

__all__ = ["routes"]

COOKIE = "kith_deck"
A_YEAR = 365 * 86400
MOST = 6
POSTS = "15"
LONGEST = 800  # of the cookie
MAX_ID = (1 << 63) - 1  # nothing is marked as new here: that is said beside the bell
USUAL = ("home", "notifications", "local")
NOTIFICATIONS = Kind(
    "notifications", "/api/v2/notifications", translatable("Notifications"), "", context="notifications"
)
PLAIN: dict[str, tuple[Kind, str]] = {
    "home": (HOME, "/home"),
    "notifications": (NOTIFICATIONS, "/notifications"),
    "local": (LOCAL, "/public/local"),
    "public": (FEDERATED, "/public"),
}
_groups = msgspec.json.Decoder(NotificationGroups)


class Column(msgspec.Struct, frozen=True):
    """A timeline: its name in the cookie, what stands above it, its own page, and where it is in the API."""

    name: str
    heading: str
    address: str
    api: str
    query: tuple[tuple[str, str], ...] = ()
    stream: str = ""
    context: str = "public"  # where filters say that they apply


class ColumnContent(msgspec.Struct, frozen=True):
    """Posts, or lines of notifications."""

    posts: Sequence[Markup] = ()
    rows: Sequence[dict[str, Any]] = ()
    older: str = ""  # the address of the next page


def names_in(text: str) -> list[str]:
    """The columns that a cookie or a form names; what is none, or there twice, is left out."""
    named = (unquote(one) for one in text[:LONGEST].split("."))
    return list(dict.fromkeys(one for one in named if _is_name(one)))[:MOST]


def _is_name(name: str) -> bool:
    kind, _, value = name.partition(":")
    if kind == "list":
        return bool(id_in(value))
    return is_tag(value) if kind == "tag" else name in PLAIN


def _kept(exchange: Exchange) -> list[str]:
    return names_in(carried_cookie(exchange, COOKIE) or ".".join(USUAL))


def _column(name: str, lists: dict[str, str], say: Translator) -> Column:
    kind, _, value = name.partition(":")
    if kind == "list":
        title = lists.get(value, say(translatable("A list that is gone")))
        return Column(
            name,
            title,
            f"/lists/{value}",
            f"/api/v1/timelines/list/{value}",
            stream=f"list?list={value}",
            context="home",
        )
    if kind == "tag":
        tag = quote(value, safe="")
        return Column(name, f"#{value}", f"/tags/{tag}", f"/api/v1/timelines/tag/{tag}", stream=f"hashtag?tag={tag}")
    known, address = PLAIN[name]
    stream = known.stream.replace(":", "/")
    return Column(name, say(known.heading), address, known.api, known.query, stream, known.context)


@get("/deck")
async def show_deck(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    lists = {one["id"]: one["title"] for one in await own_api.ask(exchange, "/api/v1/lists")}
    say = translator(language_of(exchange))
    columns = [_column(name, lists, say) for name in _kept(exchange)]
    there = {one.name for one in columns}
    return await client_page(
        exchange,
        "client/deck.html",
        member,
        here="deck",
        columns=[(one, await _content(exchange, one, member)) for one in columns],
        named=named,
        relations={},
        plain=[(name, say(kind.heading)) for name, (kind, _) in PLAIN.items() if name not in there],
        lists=[(f"list:{id}", title) for id, title in lists.items() if f"list:{id}" not in there],
        has_room=len(columns) < MOST,
        most=MOST,
    )


async def _content(exchange: Exchange, column: Column, member: PageMember) -> ColumnContent | None:
    """None where there is no such timeline any more."""
    try:
        answer = await own_api.call(exchange, "GET", column.api, query=[*column.query, ("limit", POSTS)])
    except Problem:
        return None
    work, me, reader = exchange.work, member.account.id, await reader_of(exchange, member, column.context)
    onward = own_api.other_pages(answer, but=("limit", *(name for name, _ in column.query))).get("next", "")
    older = f"{column.address}?{onward}" if onward else ""
    if column.api != NOTIFICATIONS.api:
        return ColumnContent([_anywhere(one) for one in pieces(work, answer.body, me, reader)], older=older)
    rows = rows_of(work, _groups.decode(answer.body), me, reader, read=MAX_ID)
    shown = [{**row, "post": row["post"] and _anywhere(row["post"])} for row in rows]
    return ColumnContent(rows=shown, older=older if rows else "")


def _anywhere(post: Markup) -> Markup:
    """Without an id: the same post may stand in several columns."""
    return post.replace(' id="post-', ' data-post="', 1)


@post("/deck")
async def change_deck(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    names = changed(_kept(exchange), form)
    secure = "; Secure" if exchange.server.works.settings.base_url.startswith("https") else ""
    value = ".".join(quote(one, safe="").replace(".", "%2E") for one in names) or "-"
    cookie = f"{COOKIE}={value}; Path=/deck; Max-Age={A_YEAR}; HttpOnly; SameSite=Lax{secure}"
    return see_other("/deck", headers=((b"set-cookie", cookie.encode()),))


def changed(names: list[str], form: dict[str, Any]) -> list[str]:
    """A column more, one fewer, or one that has moved by a place."""
    name, tag = text_field(form, "column"), text_field(form, "tag").lstrip("#＃")
    does = text_field(form, "does")
    if does == "add":
        new = [f"tag:{tag}" if tag else name]
        return [*names, *(one for one in new if _is_name(one) and one not in names)][:MOST]
    if name not in names:
        return names
    place, left = names.index(name), [one for one in names if one != name]
    if does == "remove":
        return left
    step = {"earlier": -1, "later": 1}.get(does, 0)
    left.insert(max(0, place + step), name)
    return left


routes = [show_deck, change_deck]
