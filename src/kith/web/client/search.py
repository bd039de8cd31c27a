"""/search?q=: people, posts and hashtags. Members also find what only another server knows, by its address."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.client.explore import with_use
from kith.web.client.frame import PageMember, client_page
from kith.web.client.people import relations_of, shown_people
from kith.web.client.profiles import looking
from kith.web.client.readers import reader_of
from kith.web.client.status_html import page_of, pieces
from kith.web.pages import see_other
from kith.web.translation import translatable

__all__ = ["routes"]

LONGEST = 2000
FEW, MANY = 5, 20  # of each kind where all are shown, and of one kind alone
KINDS = {
    "": translatable("All"),
    "accounts": translatable("People"),
    "statuses": translatable("Posts"),
    "hashtags": translatable("Hashtags"),
}


class FoundHere(msgspec.Struct):
    """As the API answers; posts stay what they are, to be shown."""

    accounts: list[dict[str, Any]] = []
    statuses: msgspec.Raw = msgspec.Raw(b"[]")
    hashtags: list[dict[str, Any]] = []


_found = msgspec.json.Decoder(FoundHere)


@get("/search")
async def show_search(exchange: Exchange) -> Answer:
    member = await looking(exchange)
    asked = exchange.query("q")[:LONGEST].replace("\0", "").strip()
    kind = exchange.query("type") if exchange.query("type") in KINDS else ""
    found, problem = FoundHere(), ""
    if asked:
        try:
            found = await _search(exchange, asked, kind, is_member=member is not None)
        except Problem as refusal:
            if refusal.status not in (400, 422):
                raise
            problem = own_api.words_of(exchange, refusal)
            await exchange.end_work(commit=False)
    only = _only_one(found) if asked.startswith(("https://", "http://")) and member is not None else ""
    return see_other(only) if only else await _page(exchange, member, asked, kind, found, problem)


async def _search(exchange: Exchange, asked: str, kind: str, *, is_member: bool) -> FoundHere:
    offset = _offset(exchange) if is_member and kind else 0
    query = [("q", asked), ("limit", str(MANY if kind else FEW))]
    if kind:
        query.append(("type", kind))
    if offset:
        query.append(("offset", str(offset)))
    elif is_member:
        query.append(("resolve", "true"))
    answer = await own_api.call(exchange, "GET", "/api/v2/search", query=query)
    return _found.decode(answer.body)


def _offset(exchange: Exchange) -> int:
    given = exchange.query("offset")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0


def _only_one(found: FoundHere) -> str:
    """The page of the one thing that an address led to."""
    posts = msgspec.json.decode(found.statuses)
    places = [f"/@{one['acct']}" for one in found.accounts] + [page_of(one) for one in posts]
    return places[0] if len(places) == 1 else ""


async def _page(
    exchange: Exchange, member: PageMember | None, asked: str, kind: str, found: FoundHere, problem: str
) -> Answer:
    me = None if member is None else member.account.id
    posts = pieces(exchange.work, bytes(found.statuses), me, await reader_of(exchange, member))
    counts = {"accounts": len(found.accounts), "statuses": len(posts), "hashtags": len(found.hashtags)}
    offset = _offset(exchange)
    return await client_page(
        exchange,
        "client/search.html",
        member,
        here="search",
        asked=asked,
        kind=kind,
        kinds=KINDS,
        problem=problem,
        people=shown_people(found.accounts),
        relations=await relations_of(exchange, member, found.accounts),
        posts=posts,
        tags=[with_use(one) for one in found.hashtags],
        counts=counts,
        few=FEW,
        newer=max(0, offset - MANY) if kind and offset else None,
        older=offset + MANY if member is not None and counts.get(kind) == MANY else None,
    )


routes = [show_search]
