"""Lists of people: who follows somebody and whom they follow, who favourited or boosted a post."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

from markupsafe import Markup

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, Route, get
from kith.base.work import Work
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page
from kith.web.client.profiles import find_person, looking
from kith.web.page_language import language_of
from kith.web.shown_posts import emphasised
from kith.web.translation import translatable, translator

__all__ = ["people_page", "relations_of", "routes", "shown_people"]

PAGED = ("max_id", "min_id", "since_id", "offset")
LONGEST_NOTE = 140


async def people_page(
    exchange: Exchange,
    member: PageMember | None,
    path: str,
    *,
    heading: str,
    empty: str,
    here: str = "",
    tabs: Sequence[tuple[str, str, bool]] = (),
    **query: object,
) -> Answer:
    """What the API answers at `path`, a page at a time."""
    asked = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    found, links = await own_api.ask_page(exchange, path, limit=40, **query, **asked)
    return await client_page(
        exchange,
        "client/people.html",
        member,
        here=here,
        heading=heading,
        empty=empty,
        people=shown_people(found),
        relations=await relations_of(exchange, member, found),
        tabs=tabs,
        older=links.get("next", ""),
    )


def shown_people(accounts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **one,
            "shown_name": Markup(emphasised(one["display_name"] or one["username"], one["emojis"])),  # noqa: S704 - escaped
            "note_text": _short(one["note"]),
        }
        for one in accounts
    ]


def _short(note: str) -> str:
    text = " ".join(unescape(Markup(note).striptags()).split())  # noqa: S704 - only its text is taken
    return text if len(text) <= LONGEST_NOTE else f"{text[:LONGEST_NOTE]}…"


async def relations_of(
    exchange: Exchange, member: PageMember | None, accounts: Sequence[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What there is between the reader and these people, by their ids."""
    if member is None or not accounts:
        return {}
    ids = [one["id"] for one in accounts]
    found = await own_api.ask(exchange, "/api/v1/accounts/relationships", id=ids)
    return {one["id"]: one for one in found}


_TABS = (("followers", translatable("Followers")), ("following", translatable("Following")))
_EMPTY = {
    "followers": translatable("Nobody follows this account yet, or it does not show who does."),
    "following": translatable("This account follows nobody yet, or does not show whom."),
}


def _of_person(kind: str) -> Route:
    @get(f"/@{{name}}/{kind}")
    async def show(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
        member = await looking(exchange)
        account = await find_person(work, name, member)
        say = translator(language_of(exchange))
        return await people_page(
            exchange,
            member,
            f"/api/v1/accounts/{account.id}/{kind}",
            heading=f"@{account.acct}",
            empty=say(_EMPTY[kind]),
            tabs=[(f"/@{account.acct}/{one}", words, one == kind) for one, words in _TABS],
        )

    return show


_MARKS = {
    "favourites": ("favourited_by", translatable("Favourites"), translatable("Nobody has favourited this post yet.")),
    "reblogs": ("reblogged_by", translatable("Boosts"), translatable("Nobody has boosted this post yet.")),
}


def _of_post(kind: str) -> Route:
    verb, words, empty = _MARKS[kind]

    @get(f"/@{{name}}/{{id}}/{kind}")
    async def show(exchange: Exchange, id: FromPath[int]) -> Answer:
        member = await looking(exchange)
        say = translator(language_of(exchange))
        path = f"/api/v1/statuses/{id}/{verb}"
        return await people_page(exchange, member, path, heading=say(words), empty=say(empty))

    return show


routes = [*(_of_person(kind) for kind, _ in _TABS), *(_of_post(kind) for kind in _MARKS)]
