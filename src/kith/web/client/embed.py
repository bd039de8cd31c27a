"""/@name/id/embed: one public post, for frames of other sites. It knows nobody, has no form, and sets no cookie."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange, whole
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.social.oembed import service
from kith.social.oembed.entities import render_quote
from kith.web.client.frame import check_open_to_strangers
from kith.web.content_policy import may_be_framed_anywhere
from kith.web.page_language import language_of
from kith.web.pages import render

__all__ = ["routes"]

KEPT = (b"cache-control", b"public, max-age=300")


@get("/@{name}/{id}/embed")
async def show_embedded(exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int]) -> Answer:
    check_open_to_strangers(exchange)
    found = await service.find(work, f"{work.settings.base_url}/@{name}/{id}")
    may_be_framed_anywhere(exchange)
    title = f"@{found.author.username} · {work.settings.title}"
    post = render_quote(found.status, found.author)
    body = render("embed.html", language_of(exchange), title=title, post=post)
    return whole(body.encode(), "text/html; charset=utf-8", headers=(KEPT,))


routes = [show_embedded]
