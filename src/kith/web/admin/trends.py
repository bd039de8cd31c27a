"""/admin/trends: what many people take up, and whether everybody is shown it."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import turns
from kith.web.admin.reports import media_headers, post_shown
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE, API = "/admin/trends", "/api/v1/admin/trends"
PER_PAGE = 20
KINDS = (
    ("tags", translatable("Hashtags")),
    ("links", translatable("Links")),
    ("links/publishers", translatable("Publishers")),
    ("statuses", translatable("Posts")),
    ("statuses/accounts", translatable("Authors")),
)


def _named(kind: str, one: dict[str, Any]) -> tuple[str, str]:
    """What it is called, and where it leads."""
    if kind == "tags":
        return f"#{one['name']}", f"/tags/{one['name']}"
    if kind == "links":
        return one["title"] or one["url"], one["url"]
    if kind == "links/publishers":
        return one["domain"], ""
    if kind == "statuses":
        return f"@{one['account']['acct']}", f"/@{one['account']['acct']}/{one['id']}"
    return f"@{one['acct']}", f"/@{one['acct']}"


def _shown(kind: str, one: dict[str, Any]) -> dict[str, Any]:
    """What all of them have in common: what it is, where it leads, how much it was used, and what was decided."""
    history = one.get("history") or ()
    words, address = _named(kind, one)
    return {
        "id": one["id"],
        "words": words,
        "address": address,
        "people": sum(int(day["accounts"]) for day in history[:2]),
        "uses": sum(int(day["uses"]) for day in history),
        "waits": one.get("requires_review", False),
        "trendable": one.get("trendable"),
        "post": post_shown(one) if kind == "statuses" else None,
    }


@get(PLACE)
async def show(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "trends.html", None)
    kind = exchange.query("show") if exchange.query("show") in dict(KINDS) else "tags"
    pages = {name: exchange.query(name)[:20] for name in ("max_id", "min_id", "offset")}
    found, ways = await own_api.ask_page(exchange, f"{API}/{kind}", limit=PER_PAGE, **pages)
    return admin_page(
        exchange,
        "trends.html",
        visitor,
        heading=translatable("Trends"),
        kind=kind,
        kinds=KINDS,
        api=f"/web{API}/{kind}",
        trends=[_shown(kind, one) for one in found],
        ways=turns(found, ways, pages, PER_PAGE),
        headers=media_headers(exchange),
    )


routes = [show]
