"""Timelines as pages: home, local, federated, bookmarks, favourites; others are made of the same `timeline`.

Each is what the API answers at the address beside it, with the same parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from markupsafe import escape

from kith.base.exchange import Answer, Exchange
from kith.base.own_calls import Pairs
from kith.base.routing import Route, get
from kith.social.ids import AccountId
from kith.social.statuses.service.wording import MOST_CHARACTERS
from kith.web import own_api
from kith.web.client.announcements import announced
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.readers import preferences_of, reader_of
from kith.web.client.status_html import joined_pieces
from kith.web.translation import Translator, translatable, translator

__all__ = ["PAGED", "Kind", "routes", "timeline"]

PAGED = ("max_id", "min_id", "since_id", "offset")
_encode = msgspec.json.Encoder(enc_hook=str).encode  # texts that are HTML already are texts of a kind of their own
_ONWARD = '<p class="onward"><a rel="{}" href="?{}">{}</a></p>\n'


class Kind(msgspec.Struct, frozen=True):
    """A timeline: where it is in the API, and what is said of it. `stream` is its name in the streaming API."""

    here: str
    api: str
    heading: str
    empty: str
    stream: str = ""
    query: tuple[tuple[str, str], ...] = ()
    for_members: bool = False
    writes: bool = False
    tabs: tuple[tuple[str, str], ...] = ()
    context: str = ""  # where filters say that they apply


_PUBLIC_TABS = (("/public/local", translatable("Local")), ("/public", translatable("Federated")))
HOME = Kind(
    "home",
    "/api/v1/timelines/home",
    translatable("Home"),
    translatable("Your home is empty. Follow people and hashtags, and their posts will appear here."),
    stream="user",
    context="home",
    for_members=True,
    writes=True,
)
LOCAL = Kind(
    "local",
    "/api/v1/timelines/public",
    translatable("Local"),
    translatable("Nobody here has posted anything in public yet."),
    stream="public:local",
    context="public",
    query=(("local", "true"),),
    tabs=_PUBLIC_TABS,
)
FEDERATED = Kind(
    "public",
    "/api/v1/timelines/public",
    translatable("Federated"),
    translatable("There is nothing here yet. Posts of people elsewhere appear as members follow them."),
    stream="public",
    context="public",
    tabs=_PUBLIC_TABS,
)
BOOKMARKS = Kind(
    "bookmarks",
    "/api/v1/bookmarks",
    translatable("Bookmarks"),
    translatable("You have no bookmarks yet. Only you can see what you bookmark."),
    for_members=True,
)
FAVOURITES = Kind(
    "favourites",
    "/api/v1/favourites",
    translatable("Favourites"),
    translatable("You have no favourites yet."),
    for_members=True,
)


async def timeline(
    exchange: Exchange,
    kind: Kind,
    *,
    heading: str = "",
    path: str = "",
    stream: str = "",
    template: str = "client/timeline.html",
    **more: Any,
) -> Answer:
    """`heading`, `path` and `stream` for those that are only known with the request; `more` is for `template`."""
    member = await find_member(exchange)
    if member is None and kind.for_members:
        return sign_in_first(exchange)
    asked: Pairs = [*kind.query, *((name, exchange.query(name)) for name in PAGED if exchange.query(name))]
    answer = await own_api.call(exchange, "GET", path or kind.api, query=asked)
    reader = await reader_of(exchange, member, kind.context)
    say = translator(reader.language)
    links = own_api.other_pages(answer, but=tuple(name for name, _ in kind.query if not exchange.query(name)))
    is_first = not any(exchange.query(name) for name in PAGED)
    heading, empty = heading or say(kind.heading), say(kind.empty)
    newer, older = "" if is_first else links.get("prev", ""), links.get("next", "")
    stream = (stream or kind.stream) if is_first and member is not None else ""
    writes = kind.writes and is_first
    visibility = await _usual_visibility(exchange, member) if writes else ""
    news = await _announced(exchange, member) if writes else ()
    extra = _encode((news, more)) if news or more else b""
    shown = joined_pieces(exchange.work, answer.body, _me(member), reader)
    return await client_page(
        exchange,
        template,
        member,
        here=kind.here,
        kept_by=(template, heading, kind.tabs, stream, writes, visibility, extra),
        late=feed(shown, say, empty, newer=newer, older=older),
        heading=heading,
        stream=stream,
        writes=writes,
        visibility=visibility,
        announcements=news,
        most_characters=MOST_CHARACTERS,
        tabs=[(to, words, to == exchange.path) for to, words in kind.tabs],
        **more,
    )


def feed(shown: bytes, say: Translator, empty: str, *, newer: str, older: str) -> bytes:
    """Posts between the ways to newer and older ones."""
    before = _ONWARD.format("prev", escape(newer), escape(say("Newer posts"))) if newer else ""
    after = _ONWARD.format("next", escape(older), escape(say("Older posts"))) if older else ""
    return b"".join((before.encode(), shown or f'<p class="empty">{escape(empty)}</p>'.encode(), after.encode()))


async def _announced(exchange: Exchange, member: PageMember | None) -> Sequence[dict[str, Any]]:
    return () if member is None else await announced(exchange.work, member.account.id)


async def _usual_visibility(exchange: Exchange, member: PageMember | None) -> str:
    if member is None:
        return ""
    return (await preferences_of(exchange, member)).privacy or ("private" if member.account.locked else "public")


def _me(member: PageMember | None) -> AccountId | None:
    return None if member is None else member.account.id


def _page(address: str, kind: Kind) -> Route:
    @get(address)
    async def show(exchange: Exchange) -> Answer:
        return await timeline(exchange, kind)

    return show


routes = [
    _page("/home", HOME),
    _page("/public/local", LOCAL),
    _page("/public", FEDERATED),
    _page("/bookmarks", BOOKMARKS),
    _page("/favourites", FAVOURITES),
]
