"""/@name/id: a post, with what it answers above it, and what answers it below."""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from kith.base.breath import Breath
from kith.base.errors import Gone, NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.addresses import status_url
from kith.social.ids import AccountId, StatusId
from kith.social.representations import NEGOTIATED, Representations, wants_activity, without_ending
from kith.social.statuses import entities, threads
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import PUBLIC, UNLISTED
from kith.web.client.frame import client_page
from kith.web.client.previews import Preview, post_data, preview_of_post
from kith.web.client.profiles import find_person, links_of, looking
from kith.web.client.readers import PageReader, reader_of
from kith.web.client.status_html import piece
from kith.web.pages import see_other
from kith.web.translation import translatable

__all__ = ["routes"]

AT_ONCE = 20  # posts that are read and shown in one go
THREAD_BYTES = 4 << 20  # of what is above a post, and of what is below it
POST_GONE = translatable("This post has been deleted.")


@get("/@{name}/{id}", guards=[without_ending])
async def show_post(exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int]) -> Answer:
    if wants_activity(exchange):
        return await exchange.find(Representations).status(exchange, name, id)  # type: ignore[type-abstract]
    member = await looking(exchange)
    me = member.account.id if member is not None else None
    author = await find_person(work, name, member)
    status = await statuses.find_visible(work.db, StatusId(id), me)
    if status is None or status.account_id != author.id:
        raise await _missing(work, StatusId(id), author)
    if status.reblog_of_id is not None:
        boosted = await statuses.find_visible(work.db, status.reblog_of_id, me)
        if boosted is None:
            raise NotFound
        return see_other(boosted.url or boosted.uri, status=302, headers=(NEGOTIATED,))
    if author.domain == "" and author.username != name:
        return see_other(status_url(work.settings, author.username, status.id), status=301, headers=(NEGOTIATED,))
    above = await threads.ancestors(work, status, me)
    below = await threads.descendants(work, status, me)
    shown = await entities.render_by_id(work, [status.id], me, context="thread")
    if not shown:  # a filter hides it in threads; who asks for this very post sees it
        shown = await entities.render_by_id(work, [status.id], me)
    if not shown:
        raise NotFound
    reader = await reader_of(exchange, member, "thread")
    noindex = author.noindex or author.domain != "" or status.visibility != PUBLIC
    preview, data = _told(work, msgspec.json.decode(shown[status.id]), author)
    return await client_page(
        exchange,
        "client/thread.html",
        member,
        headers=links_of(work.settings, author, status.uri),
        author=author,
        shown=status,
        above=(await _pieces(work, above[::-1], me, reader))[::-1],
        post=Markup(piece(work, shown[status.id], me, reader, detailed=True)),  # noqa: S704 - our own
        below=await _pieces(work, below, me, reader),
        noindex=noindex,
        preview=preview,
        data=None if noindex else data,
    )


async def _missing(work: Work, id: StatusId, author: Account) -> Problem:
    """What everybody could see and was deleted is gone; of all else nobody is told that it was there."""
    known = await statuses.find(work.db, id)
    was_open = known is not None and known.account_id == author.id and known.visibility in (PUBLIC, UNLISTED)
    return Gone(POST_GONE) if known is not None and was_open and known.deleted_at is not None else NotFound()


def _told(work: Work, entity: dict[str, Any], author: Account) -> tuple[Preview | None, dict[str, Any] | None]:
    """What programs are told of a post of this server that anybody may see."""
    if author.domain or entity["visibility"] not in ("public", "unlisted"):
        return None, None
    handle = f"@{author.username}@{work.settings.domain}"
    return preview_of_post(work.settings, entity, handle), post_data(entity, handle)


async def _pieces(work: Work, ids: list[StatusId], me: AccountId | None, reader: PageReader) -> list[Markup]:
    """The first of these posts, as many as have room on a page. Others are served in between."""
    found: list[Markup] = []
    room, breath = THREAD_BYTES, Breath()
    for start in range(0, len(ids), AT_ONCE):
        part = ids[start : start + AT_ONCE]
        shown = await entities.render_by_id(work, part, me, context="thread")
        for id in part:
            made = piece(work, shown[id], me, reader) if id in shown else ""
            room -= len(made)
            if room < 0:
                return found
            found += [Markup(made)] if made else []  # noqa: S704 - our own
            await breath.take()
    return found


routes = [show_post]
