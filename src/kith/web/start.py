"""/: a welcome for visitors, and for members their home. /applications: what they may open."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first, ways_of_strangers
from kith.web.client.readers import reader_of
from kith.web.client.status_html import pieces
from kith.web.client.timelines import HOME, timeline
from kith.web.pages import page

NEWEST = 10  # posts that a stranger is shown first
LONGEST_SEARCH = 200


@get("/")
async def start(exchange: Exchange, work: Work) -> Answer:
    """Whoever cannot take part, for a while or for good, still has their applications."""
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return await _welcome(exchange, work)
    home = await _home_of(exchange, visitor)
    if home is not None:
        return page(exchange, "onward.html", visitor=visitor, to=home)
    try:
        return await timeline(exchange, HOME)
    except Forbidden as refusal:
        return await _applications(exchange, visitor, None, problem=refusal.message)


async def _welcome(exchange: Exchange, work: Work) -> Answer:
    """What this is, and what was said here last; the way in stands in the middle, not in the menu."""
    told = await own_api.ask(exchange, "/api/v2/instance")
    return await client_page(
        exchange,
        "client/welcome.html",
        None,
        here="welcome",
        ways=[way for way in ways_of_strangers(work.settings) if way[0] != "sign_in"],
        address=work.settings.base_url,
        description=told["description"],
        members=await identity.count_members(work),
        may_join=told["registrations"]["enabled"],
        pieces=None if work.settings.is_members_only else await _newest(exchange),
    )


async def _newest(exchange: Exchange) -> list[Markup]:
    """As it is for everybody."""
    query = [("local", "true"), ("limit", str(NEWEST))]
    answer = await own_api.call(exchange, "GET", "/api/v1/timelines/public", query=query)
    return pieces(exchange.work, answer.body, None, await reader_of(exchange, None))


@get("/applications")
async def show_applications(exchange: Exchange) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return sign_in_first(exchange)
    try:
        member = await find_member(exchange)
    except Forbidden:
        member = None
    return await _applications(exchange, visitor, member)


async def _applications(
    exchange: Exchange, visitor: identity.Visitor, member: PageMember | None, *, problem: str = ""
) -> Answer:
    work, sought = exchange.work, exchange.query("q").strip()[:LONGEST_SEARCH]
    entries = await identity.library(work, visitor.user.id, exchange.address)
    found = [entry for entry in entries if _matches(entry, sought)]
    groups = [(name, list(members)) for name, members in groupby(found, key=lambda entry: entry.group)]
    return await client_page(
        exchange,
        "client/applications.html",
        member,
        here="applications",
        groups=groups,
        icon_of=_icon_of,
        problem=problem,
        sought=sought,
        may_ask=await identity.access_requests.is_used(work),
        has_any=bool(entries),
        on_request=[one for one in await _on_request(work, visitor) if sought.lower() in one.offer.name.lower()],
    )


def _matches(entry: identity.LibraryEntry, sought: str) -> bool:
    """All words of a search are somewhere in what is shown of an application."""
    shown = f"{entry.name} {entry.group} {entry.meta_publisher} {entry.meta_description}".lower()
    return all(word in shown for word in sought.lower().split())


async def _on_request(work: Work, visitor: identity.Visitor) -> list[identity.access_requests.OfferedAccess]:
    """Applications that one may not open, but may ask for."""
    if not await identity.access_requests.is_used(work):
        return []
    offered = (await identity.access_requests.show(work, visitor.user)).offered
    return [one for one in offered if one.offer.application]


async def _home_of(exchange: Exchange, visitor: identity.Visitor) -> str | None:
    """Where external users go instead: the brand's default application, if they may open it."""
    wanted = identity.brands.known(exchange).default_application
    if wanted is None or visitor.user.type != "external":
        return None
    entries = await identity.library(exchange.work, visitor.user.id, exchange.address)
    urls = [entry.meta_launch_url for entry in entries if entry.pbm_uuid == wanted]
    return next((url for url in urls if url.startswith(("http://", "https://"))), None)


def shown(messages: list[identity.UserMessage]) -> list[dict[str, str]]:
    return [{"level": identity.LEVELS[message.level], "message": message.message} for message in messages]


def _icon_of(entry: identity.LibraryEntry) -> str | None:
    """Pictures from elsewhere would tell others who looks at this page, so only our own are shown."""
    icon = entry.meta_icon_url
    return icon if identity.safe_path(icon, "") or icon.startswith("data:image/") else None


routes = [start, show_applications]
