"""Whether what a header told a client to wait for is there by now. One waits for one's own things only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kith.base.errors import NotFound
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.annual_reports import refreshes as annual_reports
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.statuses import remote_posts
from kith.social.timelines import home_feed

# Asks whether it is over; None where nothing of the kind is waited for.
Finder = Callable[[Work, AccountId, str], Awaitable[bool | None]]


async def _is_home_ready(work: Work, me: AccountId, about: str) -> bool | None:
    return None if about else await home_feed.is_ready(work, me)


# By what the id begins with; the account and what it is about follow.
FINDERS: Mapping[str, Finder] = {
    "home": _is_home_ready,
    annual_reports.PREFIX: annual_reports.is_over,
    remote_posts.PREFIX: remote_posts.is_over,
}


@get("/api/v1_alpha/async_refreshes/{id}", guards=[user("read")])
async def show_refresh(work: Work, me: Me, id: FromPath[str]) -> dict[str, Any]:
    kind, _, rest = id.partition(":")
    whose, _, about = rest.partition(":")
    if kind not in FINDERS or whose != str(me):
        raise NotFound
    is_over = await FINDERS[kind](work, me, about)
    if is_over is None:
        raise NotFound
    told = {"id": id, "status": "finished" if is_over else "running", "result_count": None}
    return {"async_refresh": told}


routes = [show_refresh]
