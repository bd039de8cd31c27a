"""Hashtags: the page of one, and those that one follows."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.client.explore import with_use
from kith.web.client.frame import client_page, find_member, sign_in_first
from kith.web.client.profiles import looking
from kith.web.client.syndication import feed_of_tag, split_ending
from kith.web.client.timelines import PAGED, Kind, timeline
from kith.web.translation import translatable

__all__ = ["routes"]

TAG = Kind("tags", "", "", translatable("Nobody has used this hashtag yet."), context="public")


@get("/tags/{name}")
async def show_tag(exchange: Exchange, name: FromPath[str]) -> Answer:
    """Members may follow it, and show it on their profile. At `/tags/name.rss` and `.atom` it is a feed."""
    plain_name, ending = split_ending(name)
    if ending:
        return await feed_of_tag(exchange, plain_name, ending)
    await looking(exchange)
    at, tag = quote(name, safe=""), None
    if await identity.find_visitor(exchange) is not None:
        tag = await own_api.ask(exchange, f"/api/v1/tags/{at}")
    return await timeline(
        exchange,
        msgspec.structs.replace(TAG, stream=f"hashtag?tag={at}"),
        heading=f"#{tag['name'] if tag else name}",
        path=f"/api/v1/timelines/tag/{at}",
        stream=f"hashtag?tag={at}",
        template="client/tag.html",
        tag=tag,
        at=at,
    )


@get("/followed_tags")
async def show_followed(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    asked = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    found, links = await own_api.ask_page(exchange, "/api/v1/followed_tags", limit=40, **asked)
    return await client_page(
        exchange,
        "client/followed_tags.html",
        member,
        here="followed_tags",
        tags=[with_use(one) for one in found],
        older=links.get("next", ""),
    )


routes = [show_tag, show_followed]
