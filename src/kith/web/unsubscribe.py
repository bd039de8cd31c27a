"""/unsubscribe: no more mail about something, without signing in: the key in the mail decides, and forms need no token.

Mail programs post here by themselves (RFC 8058); whoever follows the link is asked first, for some programs follow
every link there is.
"""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.notification_emails import service
from kith.web.pages import page


@get("/unsubscribe/{key}")
async def ask_to_unsubscribe(exchange: Exchange, work: Work, key: FromPath[str]) -> Answer:
    service.read_key(work, key)
    return page(exchange, "unsubscribe.html", done=False)


@post("/unsubscribe/{key}", status=200)
async def unsubscribe(exchange: Exchange, work: Work, key: FromPath[str]) -> Answer:
    await service.unsubscribe(work, key)
    return page(exchange, "unsubscribe.html", done=True)


routes = [ask_to_unsubscribe, unsubscribe]
