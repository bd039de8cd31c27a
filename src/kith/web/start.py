"""/: a welcome for visitors, and for members what they may open."""

from __future__ import annotations

from itertools import groupby

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import page


@get("/")
async def start(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        settings = work.settings
        return page(
            exchange,
            "welcome.html",
            description=settings.description,
            members=await identity.count_members(work),
            may_join=settings.registrations != "closed",
        )
    entries = await identity.library(work, visitor.user.id, exchange.address)
    home = _home_of(exchange, visitor, entries)
    if home is not None:
        return page(exchange, "onward.html", visitor=visitor, to=home)
    groups = [(name, list(members)) for name, members in groupby(entries, key=lambda entry: entry.group)]
    return page(
        exchange,
        "start.html",
        visitor=visitor,
        groups=groups,
        icon_of=_icon_of,
        may_ask=await identity.access_requests.is_used(work),
        messages=shown(await identity.take_messages(work, visitor.user.id)),
    )


def _home_of(exchange: Exchange, visitor: identity.Visitor, entries: list[identity.LibraryEntry]) -> str | None:
    """Where external users go instead: the brand's default application, if they may open it."""
    wanted = identity.brands.known(exchange).default_application
    if wanted is None or visitor.user.type != "external":
        return None
    urls = [entry.meta_launch_url for entry in entries if entry.pbm_uuid == wanted]
    return next((url for url in urls if url.startswith(("http://", "https://"))), None)


def shown(messages: list[identity.UserMessage]) -> list[dict[str, str]]:
    return [{"level": identity.LEVELS[message.level], "message": message.message} for message in messages]


def _icon_of(entry: identity.LibraryEntry) -> str | None:
    """Pictures from elsewhere would tell others who looks at this page, so only our own are shown."""
    icon = entry.meta_icon_url
    return icon if identity.safe_path(icon, "") or icon.startswith("data:image/") else None


routes = [start]
