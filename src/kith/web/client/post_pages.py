"""What else there is to a post: how it read before, who quotes it, how it reads in another language, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup

from kith.base.errors import NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.profiles import looking
from kith.web.client.readers import reader_of
from kith.web.client.status_html import page_of, piece, pieces
from kith.web.page_language import language_of
from kith.web.settings.forms import read_own_form
from kith.web.shown_posts import emphasised, written

__all__ = ["routes"]


@get("/@{name}/{id}/delete")
async def ask_to_delete(exchange: Exchange, id: FromPath[int]) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    said, shown = await _post(exchange, id, member)
    if said["account"]["id"] != str(member.account.id):
        raise NotFound
    return await client_page(
        exchange,
        "client/delete.html",
        member,
        post=shown,
        id=said["id"],
        address=page_of(said),
        onward=identity.safe_path(exchange.query("next"), f"/@{member.account.username}"),
    )


@get("/@{name}/{id}/history")
async def show_history(exchange: Exchange, id: FromPath[int]) -> Answer:
    """Newest first."""
    member = await looking(exchange)
    said = await own_api.ask(exchange, f"/api/v1/statuses/{id}")
    versions = await own_api.ask(exchange, f"/api/v1/statuses/{id}/history")
    return await client_page(
        exchange,
        "client/history.html",
        member,
        author=said["account"]["display_name"] or said["account"]["username"],
        address=page_of(said),
        language_of_post=said["language"] or "",
        versions=[_version(one) for one in reversed(versions)],
    )


def _version(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "at": datetime.fromisoformat(one["created_at"]),
        "html": Markup(written(one["content"], one["emojis"])),  # noqa: S704 - cleaned
        "warning": Markup(emphasised(one["spoiler_text"], one["emojis"])) if one["spoiler_text"] else "",  # noqa: S704 - escaped
        "media": one["media_attachments"],
        "options": [option["title"] for option in (one.get("poll") or {}).get("options", ())],
    }


@get("/@{name}/{id}/quotes")
async def show_quotes(exchange: Exchange, id: FromPath[int]) -> Answer:
    """Whoever was quoted may take their post out of each, by its menu."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    said, shown = await _post(exchange, id, member)
    paged = [("max_id", exchange.query("max_id"))] if exchange.query("max_id") else []
    answer = await own_api.call(exchange, "GET", f"/api/v1/statuses/{id}/quotes", query=[("limit", "20"), *paged])
    return await client_page(
        exchange,
        "client/quotes.html",
        member,
        post=shown,
        address=page_of(said),
        pieces=pieces(exchange.work, answer.body, member.account.id, await reader_of(exchange, member)),
        older=own_api.other_pages(answer, but=("limit",)).get("next", ""),
    )


@post("/@{name}/{id}/translate")
async def show_translation(exchange: Exchange, id: FromPath[int]) -> Answer:
    await read_own_form(exchange)
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    said, shown = await _post(exchange, id, member)
    problem, told = "", None
    try:
        told = await _translated(exchange, id, said["emojis"])
    except Problem as refused:
        problem = own_api.words_of(exchange, refused)
        await exchange.end_work(commit=False)
    return await client_page(
        exchange,
        "client/translation.html",
        member,
        status=200 if told is not None else 422,
        post=shown,
        id=said["id"],
        address=page_of(said),
        told=told,
        problem=problem,
    )


async def _translated(exchange: Exchange, id: int, emojis: Sequence[dict[str, Any]]) -> dict[str, Any]:
    answer = await own_api.call(
        exchange, "POST", f"/api/v1/statuses/{id}/translate", json={"lang": language_of(exchange)}
    )
    told = msgspec.json.decode(answer.body)
    return {
        **told,
        "html": Markup(written(told["content"], emojis)),  # noqa: S704 - cleaned
        "options": [option["title"] for option in (told["poll"] or {}).get("options", ())],
        "descriptions": [one["description"] for one in told["media_attachments"] if one["description"]],
    }


async def _post(exchange: Exchange, id: int, member: PageMember) -> tuple[dict[str, Any], Markup]:
    """What the API says of it, and the same as a piece of a page."""
    answer = await own_api.call(exchange, "GET", f"/api/v1/statuses/{id}")
    shown = piece(exchange.work, answer.body, member.account.id, await reader_of(exchange, member))
    return msgspec.json.decode(answer.body), Markup(shown)  # noqa: S704 - our own


routes = [ask_to_delete, show_history, show_quotes, show_translation]
