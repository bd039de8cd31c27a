"""/admin/backups: when backups were made, whether they can be restored, and a button for one more."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.admin.figures import human_size
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import moment_of
from kith.web.translation import translatable

__all__ = ["routes"]

BACKUPS = "/admin/backups"


@get(BACKUPS)
async def show_backups(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, BACKUPS)
    if visitor is None:
        return admin_page(exchange, "backups.html", None)
    told = await own_api.ask(exchange, "/api/v1/admin/backups")
    return admin_page(
        exchange,
        "backups.html",
        visitor,
        heading=translatable("Backups"),
        told=told,
        backups=[_explained(one) for one in told["backups"]],
        rehearsals=[_explained(one) for one in told["rehearsals"]],
    )


def _explained(run: dict[str, Any]) -> dict[str, Any]:
    return {
        **run,
        "started": moment_of(run["started_at"]),
        "size_words": human_size(run["size"]) if run["size"] else "",
        "new_words": human_size(run["new_bytes"]) if run["new_bytes"] else "",
    }


routes = [show_backups]
