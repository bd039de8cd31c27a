"""/@name/wrapstodon/year/key: somebody's year, for whoever was given the link."""

from __future__ import annotations

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.annual_reports import service
from kith.web.client.profiles import looking
from kith.web.pages import page
from kith.web.translation import translatable

ARCHETYPES = {
    "lurker": translatable("Reads a lot and posts a little"),
    "booster": translatable("Passes on what others post"),
    "pollster": translatable("Asks in polls"),
    "replier": translatable("Takes part in conversations"),
    "oracle": translatable("Writes posts of their own"),
}


@get("/{handle}/wrapstodon/{year}/{share_key}")
async def show_shared(
    exchange: Exchange, work: Work, handle: FromPath[str], year: FromPath[int], share_key: FromPath[str]
) -> Answer:
    if not handle.startswith("@"):
        raise NotFound
    if work.settings.is_members_only:
        await looking(exchange)
    account, report = await service.find_shared(work, handle[1:], year, share_key)
    data = report.data or {}
    return page(
        exchange,
        "annual_report.html",
        visitor=await identity.find_visitor(exchange),
        name=account.display_name or account.username,
        handle=account.username,
        year=report.year,
        archetype=ARCHETYPES.get(data["archetype"], ""),
        posts=sum(month["statuses"] for month in data["time_series"]),
        followers=sum(month["followers"] for month in data["time_series"]),
        hashtags=[tag["name"] for tag in data["top_hashtags"][:5]],
    )


routes = [show_shared]
