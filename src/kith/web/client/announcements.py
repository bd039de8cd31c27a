"""What the team announces, above one's home: to be read, reacted to and dismissed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from markupsafe import Markup

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.social.announcements import service
from kith.social.announcements.entities import render_all
from kith.social.ids import AccountId
from kith.web.client.frame import client_page, find_member, sign_in_first
from kith.web.shown_posts import written

__all__ = ["announced", "routes"]

# What can be reacted with by one press; whatever others have used stands there too.
OFFERED = ("👍", "❤️", "🎉", "😄", "😢", "👀")


async def announced(work: Work, me: AccountId, *, also_read: bool = False) -> list[dict[str, Any]]:
    """What is announced now; what was dismissed only where that is asked for.

    As the API tells it, but without a call of it: every view of one's home asks, and mostly there is nothing.
    """
    found, read = await service.shown_to(work, me, with_read=also_read)
    return [_shown(one) for one in await render_all(work, found, me, read)]


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    used = {reaction["name"] for reaction in one["reactions"]}
    return {
        **one,
        "html": Markup(written(one["content"], one["emojis"])),  # noqa: S704 - cleaned
        "at": datetime.fromisoformat(one["published_at"]),
        "starts": datetime.fromisoformat(one["starts_at"]) if one["starts_at"] else None,
        "ends": datetime.fromisoformat(one["ends_at"]) if one["ends_at"] else None,
        "offered": [name for name in OFFERED if name not in used],
    }


@get("/announcements")
async def show_announcements(exchange: Exchange) -> Answer:
    """All that is announced now, also what one has dismissed."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    found = await announced(exchange.work, member.account.id, also_read=True)
    return await client_page(exchange, "client/announcements.html", member, announcements=found)


routes = [show_announcements]
