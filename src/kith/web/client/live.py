"""/web/pieces: posts by their ids, as the pieces of pages that scripts put into timelines."""

from __future__ import annotations

from kith.base import csrf
from kith.base.errors import Unauthenticated
from kith.base.exchange import Answer, Exchange, whole
from kith.base.keys import Keys
from kith.base.routing import get
from kith.base.work import Work
from kith.social.pages import numbers
from kith.social.statuses import entities
from kith.web.client.frame import find_member
from kith.web.client.readers import reader_of
from kith.web.client.status_html import piece
from kith.web.pages import NO_STORE, TOKEN_MARK

__all__ = ["routes"]

MOST = 40


@get("/web/pieces")
async def show_pieces(exchange: Exchange, work: Work) -> Answer:
    """In the order of the ids; those that may not be seen, or are filtered, are left out."""
    member = await find_member(exchange)
    if member is None:
        raise Unauthenticated
    context = exchange.query("context")[:20]
    me, reader = member.account.id, await reader_of(exchange, member, context)
    ids = numbers(exchange.query("ids").split(",")[:MOST])
    shown = await entities.render_by_id(work, ids, me, context=context)
    html = "".join(piece(work, shown[id], me, reader) for id in ids if id in shown)  # type: ignore[index]
    token = csrf.token_for(exchange, exchange.find(Keys).session)
    return whole(html.replace(TOKEN_MARK, token).encode(), "text/html; charset=utf-8", headers=(NO_STORE,))


routes = [show_pieces]
