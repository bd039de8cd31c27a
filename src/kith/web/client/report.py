"""/report?account=&status=: tells the team of somebody, with what they posted and the rules that it breaks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup

from kith.base.errors import NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.client.drafts import id_in
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.people import relations_of, shown_people
from kith.web.settings.forms import read_own_form, text_field
from kith.web.shown_posts import emphasised, written

__all__ = ["routes"]

SHOWN_POSTS = 20
MOST_POSTS = 200
CATEGORIES = ("violation", "spam", "legal", "other")


class ReportForm(msgspec.Struct, kw_only=True):
    """As it begins, or as it was sent."""

    account: str
    statuses: list[str] = []
    category: str = ""
    rules: list[str] = []
    comment: str = ""
    forward: bool = False
    next: str = "/home"


@get("/report")
async def write_report(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    status = id_in(exchange.query("status"))
    form = ReportForm(
        account=id_in(exchange.query("account")),
        statuses=[status] if status else [],
        next=identity.safe_path(exchange.query("next"), "/home"),
    )
    return await _page(exchange, member, form)


@post("/report")
async def send_report(exchange: Exchange) -> Answer:
    _, given = await read_own_form(exchange)
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    form = _sent(given)
    fields = {
        "account_id": form.account,
        "status_ids": form.statuses,
        "category": "violation" if form.rules else form.category or "other",
        "rule_ids": form.rules,
        "comment": form.comment,
        "forward": form.forward,
    }
    try:
        await own_api.call(exchange, "POST", "/api/v1/reports", json=fields)
    except Problem as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return await _page(exchange, member, form, problem=words, status=422)
    return await _thanks(exchange, member, form)


def _sent(given: dict[str, Any]) -> ReportForm:
    return ReportForm(
        account=id_in(text_field(given, "account")),
        statuses=_ids(given.get("statuses"))[:MOST_POSTS],
        category=text_field(given, "category"),
        rules=_ids(given.get("rules")),
        comment=text_field(given, "comment").replace("\r\n", "\n"),
        forward=text_field(given, "forward") == "true",
        next=identity.safe_path(text_field(given, "next"), "/home"),
    )


def _ids(given: object) -> list[str]:
    return [one for one in given if isinstance(one, str) and id_in(one)] if isinstance(given, list) else []


async def _page(
    exchange: Exchange, member: PageMember, form: ReportForm, *, problem: str = "", status: int = 200
) -> Answer:
    person = await _person(exchange, member, form)
    return await client_page(
        exchange,
        "client/report.html",
        member,
        status=status,
        form=form,
        problem=problem,
        person=person,
        server=person["acct"].partition("@")[2],
        posts=await _posts(exchange, form),
        rules=await own_api.ask(exchange, "/api/v1/instance/rules"),
        categories=CATEGORIES,
    )


async def _person(exchange: Exchange, member: PageMember, form: ReportForm) -> dict[str, Any]:
    if not form.account or form.account == str(member.account.id):
        raise NotFound
    [shown] = shown_people([await own_api.ask(exchange, f"/api/v1/accounts/{form.account}")])
    return shown


async def _posts(exchange: Exchange, form: ReportForm) -> list[dict[str, Any]]:
    """Those that are reported already, and the newest others."""
    path = f"/api/v1/accounts/{form.account}/statuses"
    newest = await own_api.ask(exchange, path, limit=SHOWN_POSTS, exclude_reblogs=True)
    listed = {one["id"] for one in newest}
    named = [one for one in form.statuses[:SHOWN_POSTS] if one not in listed]
    first = await own_api.ask(exchange, "/api/v1/statuses", id=named) if named else []
    theirs = [one for one in [*first, *newest] if one["account"]["id"] == form.account]
    shown = [_shown(one, is_chosen=one["id"] in form.statuses) for one in theirs]
    return sorted(shown, key=lambda one: not one["is_chosen"])


def _shown(one: dict[str, Any], *, is_chosen: bool) -> dict[str, Any]:
    return {
        "id": one["id"],
        "at": datetime.fromisoformat(one["created_at"]),
        "warning": Markup(emphasised(one["spoiler_text"], one["emojis"])) if one["spoiler_text"] else "",  # noqa: S704 - escaped
        "html": Markup(written(one["content"], one["emojis"])),  # noqa: S704 - cleaned
        "files": len(one["media_attachments"]),
        "is_chosen": is_chosen,
    }


async def _thanks(exchange: Exchange, member: PageMember, form: ReportForm) -> Answer:
    """With what one can do oneself, meanwhile."""
    person = await _person(exchange, member, form)
    relations = await relations_of(exchange, member, [person])
    return await client_page(
        exchange,
        "client/reported.html",
        member,
        person=person,
        relation=relations[form.account],
        onward=form.next,
    )


routes = [write_report, send_report]
