"""/admin/people: everybody who has an account here, and whoever of elsewhere is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.social.admin.people import FEW, LAST_OFFSET, ORDERS, STATES, PeopleQuery, find_people
from kith.social.roles import store as roles
from kith.web import own_api
from kith.web.admin.bulk import actions_for
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter
from kith.web.page_language import language_of
from kith.web.translation import translatable, translator

__all__ = ["STATE_WORDS", "routes"]

PER_PAGE = 50
STATE_WORDS = {
    "active": translatable("Active"),
    "pending": translatable("Waiting for approval"),
    "unconfirmed": translatable("Address not confirmed"),
    "disabled": translatable("Disabled"),
    "silenced": translatable("Limited"),
    "suspended": translatable("Suspended"),
}
SEEN = {
    1: translatable("Today or yesterday"),
    7: translatable("In the last 7 days"),
    30: translatable("In the last 30 days"),
    -30: translatable("Not for 30 days"),
    -90: translatable("Not for 90 days"),
    -365: translatable("Not for a year"),
}
TYPES = {
    "internal": translatable("Members"),
    "external": translatable("Guests"),
    "service_account": translatable("Programs"),
}
COLUMNS = (
    ("username", translatable("Person")),
    ("email", translatable("E-mail address")),
    ("", translatable("Role")),
    ("", translatable("State")),
    ("joined", translatable("Joined")),
    ("seen", translatable("Last seen")),
)


@get("/admin/people")
async def show_people(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "people/list.html", None)
    rights = known_rights(exchange)
    rights.need("core.view_user", "manage_users")
    if exchange.query("origin") == "remote":
        rights.need("manage_users")
        return await _elsewhere(exchange, visitor)
    work, asked, offset = exchange.work, _read(exchange), min(_number(exchange.query("offset")), LAST_OFFSET)
    found = await find_people(work, asked, offset=offset, most=PER_PAGE)
    known = {name: value for name, value in _given(asked).items() if value}
    return admin_page(
        exchange,
        "people/list.html",
        visitor,
        asked=asked,
        found=found,
        few=FEW,
        now=work.now,
        columns=[(words, _sorting(known, name) if name else None) for name, words in COLUMNS],
        state_words=STATE_WORDS,
        state_options=_options(exchange, STATE_WORDS),
        seen_options=_options(exchange, SEEN),
        type_options=_options(exchange, TYPES),
        role_options=[(role.id, role.name or "everyone") for role in (await roles.load(work.db)).listed],
        actions=actions_for(rights),
        groups=await _groups(exchange) if rights.may("core.view_group") else [],
        first=offset + 1,
        newer=_address(known, max(0, offset - PER_PAGE)) if offset else None,
        older=_address(known, offset + PER_PAGE) if found.more and offset + PER_PAGE <= LAST_OFFSET else None,
        is_cut=found.more and offset + PER_PAGE > LAST_OFFSET,
    )


def _options(exchange: Exchange, words: Mapping[Any, str]) -> list[tuple[Any, str]]:
    translate = translator(language_of(exchange))
    return [(value, translate(said)) for value, said in words.items()]


def _read(exchange: Exchange) -> PeopleQuery:
    """What is not known is not asked for."""
    state, order, role, kind = (exchange.query(name) for name in ("state", "order", "role", "type"))
    seen = exchange.query("seen")
    return PeopleQuery(
        search=exchange.query("search").strip()[:200],
        state=state if state in STATES else "",
        role_id=int(role) if role.lstrip("-").isascii() and role.lstrip("-").isdigit() and len(role) < 19 else None,
        seen=next((days for days in SEEN if str(days) == seen), 0),
        group=identity.read_uuid(exchange.query("group")) or "",
        type=kind if kind in TYPES else "",
        order=order if order.removeprefix("-") in ORDERS else "username",
    )


def _given(asked: PeopleQuery) -> dict[str, str]:
    return {
        "search": asked.search,
        "state": asked.state,
        "role": "" if asked.role_id is None else str(asked.role_id),
        "seen": str(asked.seen or ""),
        "group": asked.group,
        "type": asked.type,
        "order": asked.order if asked.order != "username" else "",
    }


def _address(known: Mapping[str, str], offset: int) -> str:
    return "?" + urlencode({**known, **({"offset": offset} if offset else {})})


def _sorting(known: Mapping[str, str], name: str) -> tuple[str, str]:
    """Where a click on the column's head leads, and how it is sorted now; times begin with the latest."""
    now = known.get("order", "username")
    first = f"-{name}" if name in ("joined", "seen") else name
    other = name if first.startswith("-") else f"-{name}"
    sorted_now = {name: "ascending", f"-{name}": "descending"}.get(now, "")
    return _address({**known, "order": other if now == first else first}, 0), sorted_now


async def _groups(exchange: Exchange) -> list[tuple[str, str]]:
    told = await own_api.ask(exchange, "/api/v2/core/groups/", limit=200, ordering="name")
    return [(one["pk"], one["name"]) for one in told["results"]]


async def _elsewhere(exchange: Exchange, visitor: identity.Visitor) -> Answer:
    """People of other servers, the latest met first; a name or a server, or both as `name@server`."""
    search, state = exchange.query("search").strip()[:200], exchange.query("state")
    name, _, domain = search.lstrip("@").partition("@")
    if not domain and "." in name:
        name, domain = "", name
    state = state if state in ("silenced", "suspended") else ""
    places = {place: exchange.query(place)[:30] for place in ("max_id", "min_id", "since_id")}
    people, pages = await own_api.ask_page(
        exchange,
        "/api/v2/admin/accounts",
        origin="remote",
        username=name,
        by_domain=domain,
        status=state,
        limit=PER_PAGE,
        **places,
    )
    kept = urlencode({"origin": "remote", "search": search, "state": state})
    return admin_page(
        exchange,
        "people/elsewhere.html",
        visitor,
        people=people,
        search=search,
        state=state,
        state_words=STATE_WORDS,
        older=f"?{kept}&{pages['next']}" if "next" in pages else None,
        newer=f"?{kept}&{pages['prev']}" if "prev" in pages and any(places.values()) else None,
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


routes = [show_people]
