"""/settings/delete: leaving for good. What it means is said here; the flow of the server asks and does it."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.web.settings.frame import entered, settings_page


@get("/settings/delete", aliases=("/auth/delete",))
async def show_leaving(exchange: Exchange) -> Answer:
    """Where the server has no such flow, people are told whom to ask."""
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    return await settings_page(
        exchange,
        "settings/delete.html",
        member.visitor,
        part="delete",
        may_leave=not member.visitor.is_acting
        and await identity.flows.find_default(exchange, "unenrollment") is not None,
        is_acting=member.visitor.is_acting,
        contact=exchange.work.settings.contact_email,
        username=member.account.username,
    )


routes = [show_leaving]
