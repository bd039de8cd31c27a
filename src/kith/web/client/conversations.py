"""/conversations: posts to mentioned people only, by conversation."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.people import shown_people
from kith.web.client.readers import PageReader, reader_of
from kith.web.client.status_html import page_of, piece

__all__ = ["routes"]

PAGED = ("max_id", "min_id", "since_id")


class ConversationJson(msgspec.Struct):
    """What the API answers. The post stays as it is, so that its piece is found by it."""

    id: str
    unread: bool
    accounts: list[dict[str, Any]]
    last_status: msgspec.Raw


_all = msgspec.json.Decoder(list[ConversationJson])


@get("/conversations")
async def show_conversations(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    paged = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    answer = await own_api.call(exchange, "GET", "/api/v1/conversations", query=own_api.pairs(paged))
    found = _all.decode(answer.body)
    reader = await reader_of(exchange, member, "thread")
    links = own_api.other_pages(answer)
    return await client_page(
        exchange,
        "client/conversations.html",
        member,
        here="conversations",
        conversations=[_shown(exchange, member, one, reader) for one in found],
        is_first=not paged,
        older=links.get("next", "") if found else "",
        newer=links.get("prev", "") if paged else "",
    )


def _shown(exchange: Exchange, member: PageMember, one: ConversationJson, reader: PageReader) -> dict[str, Any]:
    """Where its newest post cannot be seen any more, the people alone."""
    raw = bytes(one.last_status)
    last = msgspec.json.decode(raw)
    html = piece(exchange.work, raw, member.account.id, reader) if last else ""
    return {
        "id": one.id,
        "unread": one.unread,
        "people": shown_people(one.accounts),
        "post": Markup(html),  # noqa: S704 - our own
        "address": page_of(last) if last else "",
        "last_id": last["id"] if last else "",
    }


routes = [show_conversations]
