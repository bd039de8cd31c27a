"""/explore: what many people talk about just now (posts, hashtags, links), and whom one might like to follow."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.client.frame import client_page, find_member, sign_in_first
from kith.web.client.people import relations_of, shown_people
from kith.web.client.profiles import looking
from kith.web.client.timelines import Kind, timeline
from kith.web.translation import translatable

__all__ = ["routes", "with_use"]

LIMIT = 20
_TABS = (
    ("/explore", translatable("Posts")),
    ("/explore/tags", translatable("Hashtags")),
    ("/explore/links", translatable("News")),
)
_FOR_MEMBERS = (("/explore/suggestions", translatable("People")),)
POSTS = Kind(
    "explore",
    "/api/v1/trends/statuses",
    translatable("Explore"),
    translatable("No post stands out at the moment. Come back later, or look at the newest posts under “Local”."),
    context="public",
)
ABOUT_A_LINK = Kind(
    "explore", "/api/v1/timelines/link", "", translatable("Nobody talks about this link any more."), context="public"
)
REASONS = {
    "featured": translatable("Recommended by the team of this server"),
    "friends_of_friends": translatable("Followed by people you follow"),
    "most_followed": translatable("Followed by many people here"),
    "similar_to_recently_followed": translatable("You have been in touch of late"),
}


async def _tabs(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """Suggestions are made for somebody, so that strangers have none."""
    return _TABS if await identity.find_visitor(exchange) is None else (*_TABS, *_FOR_MEMBERS)


async def _marked_tabs(exchange: Exchange) -> list[tuple[str, str, bool]]:
    return [(to, words, to == exchange.path) for to, words in await _tabs(exchange)]


@get("/explore", aliases=("/explore/posts",))
async def show_posts(exchange: Exchange) -> Answer:
    await looking(exchange)
    return await timeline(exchange, msgspec.structs.replace(POSTS, tabs=await _tabs(exchange)))


@get("/explore/tags")
async def show_tags(exchange: Exchange) -> Answer:
    member = await looking(exchange)
    found, links = await own_api.ask_page(
        exchange, "/api/v1/trends/tags", limit=LIMIT, offset=exchange.query("offset")[:6]
    )
    return await client_page(
        exchange,
        "client/explore_tags.html",
        member,
        here="explore",
        tabs=await _marked_tabs(exchange),
        tags=[with_use(one) for one in found],
        older=links.get("next", ""),
    )


def with_use(entity: dict[str, Any]) -> dict[str, Any]:
    """A tag or a link, with how many used it today and yesterday, and its week as a line from 0 to 20, oldest first."""
    days = [int(day["uses"]) for day in reversed(entity["history"])]
    most = max([1, *days])
    points = " ".join(f"{place * 10},{20 - round(18 * uses / most)}" for place, uses in enumerate(days))
    return {**entity, "people": sum(int(day["accounts"]) for day in entity["history"][:2]), "line": points}


@get("/explore/links")
async def show_links(exchange: Exchange) -> Answer:
    member = await looking(exchange)
    found, links = await own_api.ask_page(
        exchange, "/api/v1/trends/links", limit=LIMIT, offset=exchange.query("offset")[:6]
    )
    return await client_page(
        exchange,
        "client/explore_links.html",
        member,
        here="explore",
        tabs=await _marked_tabs(exchange),
        links=[with_use(one) for one in found],
        older=links.get("next", ""),
    )


@get("/links")
async def show_about_a_link(exchange: Exchange) -> Answer:
    """What is said of a link that many share."""
    await looking(exchange)
    url = exchange.query("url")[:2048]
    kind = msgspec.structs.replace(ABOUT_A_LINK, query=(("url", url),))
    return await timeline(exchange, kind, heading=url, template="client/link.html", url=url)


@get("/explore/suggestions")
async def show_suggestions(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    found = await own_api.ask(exchange, "/api/v2/suggestions", limit=40)
    people = shown_people([one["account"] for one in found])
    reasons = [REASONS.get(one["sources"][0], "") for one in found]
    return await client_page(
        exchange,
        "client/suggestions.html",
        member,
        here="explore",
        tabs=await _marked_tabs(exchange),
        people=list(zip(people, reasons, strict=True)),
        relations=await relations_of(exchange, member, people),
    )


routes = [show_posts, show_tags, show_links, show_about_a_link, show_suggestions]
