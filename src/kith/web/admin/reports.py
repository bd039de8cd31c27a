"""/admin/reports: what members and other servers have reported, each as a case; /admin/appeals."""

from __future__ import annotations

import asyncio
from typing import Any

from markupsafe import Markup

from kith.base.errors import Invalid, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.social.text.html import plain
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import moment_of, turns
from kith.web.client.media_policy import media_policy
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.shown_posts import emphasised, written
from kith.web.translation import translatable

__all__ = ["media_headers", "person_shown", "post_shown", "routes"]

REPORTS, APPEALS = "/admin/reports", "/admin/appeals"
API = "/api/v1/admin/reports"
PER_PAGE = 40
MOST_OTHERS = 20
VIEWS = (("unresolved", translatable("Open")), ("resolved", translatable("Resolved")))
CATEGORIES = {
    "spam": translatable("Spam"),
    "legal": translatable("Against the law"),
    "violation": translatable("Breaks the rules"),
    "other": translatable("Something else"),
}
ACTIONS = (
    ("none", translatable("Warn"), translatable("They get your text, and nothing else happens.")),
    (
        "delete_statuses",
        translatable("Delete the reported posts"),
        translatable("The posts of this report are deleted everywhere."),
    ),
    (
        "mark_statuses_as_sensitive",
        translatable("Mark the reported posts as sensitive"),
        translatable("Their pictures and films are hidden until somebody opens them."),
    ),
    ("sensitive", translatable("Mark all media as sensitive"), translatable("Also of everything they post later.")),
    ("silence", translatable("Limit"), translatable("Only people who follow them see what they post.")),
    (
        "disable",
        translatable("Freeze"),
        translatable("They cannot sign in, and apps are refused, until it is taken back. Profile and posts stay."),
    ),
    (
        "suspend",
        translatable("Suspend"),
        translatable("Profile and posts are hidden at once, and deleted after 30 days. Until then it can be lifted."),
    ),
)
ON_POSTS = ("delete_statuses", "mark_statuses_as_sensitive")
STATES = (
    ("pending", translatable("Open")),
    ("approved", translatable("Approved")),
    ("rejected", translatable("Rejected")),
)
STRIKES = {name: words for name, words, _ in ACTIONS}


def person_shown(one: dict[str, Any] | None) -> dict[str, Any] | None:
    """Admin::Account, with its name made safe."""
    if one is None:
        return None
    account = one["account"]
    name = Markup(emphasised(account["display_name"] or account["username"], account["emojis"]))  # noqa: S704 - escaped
    return {**one, "shown_name": name, "acct": account["acct"], "avatar": account["avatar_static"]}


def post_shown(one: dict[str, Any]) -> dict[str, Any]:
    return {
        **one,
        "html": Markup(written(one["content"], one["emojis"])),  # noqa: S704 - cleaned
        "words": " ".join(plain(one["content"]).split()),
        "warning": one["spoiler_text"],
        "at": moment_of(one["created_at"]),
        "address": f"/@{one['account']['acct']}/{one['id']}",
    }


def report_shown(one: dict[str, Any]) -> dict[str, Any]:
    people = ("account", "target_account", "assigned_account", "action_taken_by_account")
    return {
        **one,
        **{name: person_shown(one[name]) for name in people},
        "at": moment_of(one["created_at"]),
        "resolved_at": moment_of(one["action_taken_at"]),
        "category_words": CATEGORIES.get(one["category"], one["category"]),
    }


@get(REPORTS)
async def show_queue(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, REPORTS)
    if visitor is None:
        return admin_page(exchange, "reports.html", None)
    view = exchange.query("show") if exchange.query("show") in dict(VIEWS) else "unresolved"
    about = exchange.query("about")[:20]
    asked: dict[str, object] = {"resolved": True, "unresolved": True} if about else {view: True}
    pages = {name: exchange.query(name)[:20] for name in ("max_id", "min_id")}
    found, ways = await own_api.ask_page(exchange, API, limit=PER_PAGE, target_account_id=about, **asked, **pages)
    return admin_page(
        exchange,
        "reports.html",
        visitor,
        heading=translatable("Reports"),
        reports=[report_shown(one) for one in found],
        ways=turns(found, ways, pages, PER_PAGE),
        kept=f"about={about}&" if about else f"show={view}&",
        view=view,
        views=VIEWS,
        about=about,
        headers=media_headers(exchange),
    )


@get(f"{REPORTS}/{{id}}")
async def show_case(exchange: Exchange, id: FromPath[int]) -> Answer:
    visitor = await enter_with(exchange, REPORTS)
    if visitor is None:
        return admin_page(exchange, "report.html", None)
    return await _case(exchange, visitor, id)


@post(f"{REPORTS}/{{id}}")
async def act(exchange: Exchange, id: FromPath[int]) -> Answer:
    """Do something about whoever was reported; that closes the case."""
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, REPORTS)
    if visitor is None:
        return admin_page(exchange, "report.html", None)
    report = await own_api.ask(exchange, f"{API}/{id}")
    chosen = form.get("status_ids")
    sent = {
        "type": text_field(form, "type"),
        "report_id": str(id),
        "warning_preset_id": text_field(form, "warning_preset_id"),
        "text": text_field(form, "text"),
        "send_email_notification": form.get("send_email_notification") == "true",
        "status_ids": [str(one) for one in chosen] if isinstance(chosen, list) else [],
    }
    if sent["type"] not in ON_POSTS:
        sent["status_ids"] = []
    try:
        target = report["target_account"]["id"]
        await own_api.call(exchange, "POST", f"/api/v1/admin/accounts/{target}/action", json=sent)
    except Problem as problem:
        if problem.status >= 500:
            raise
        await exchange.end_work(commit=False)
        words = own_api.words_of(exchange, problem) if isinstance(problem, Invalid) else problem.message
        return await _case(exchange, visitor, id, sent=sent, error=words)
    return see_other(f"{REPORTS}/{id}")


async def _case(
    exchange: Exchange, visitor: identity.Visitor, id: int, *, sent: dict[str, Any] | None = None, error: str = ""
) -> Answer:
    report = report_shown(await own_api.ask(exchange, f"{API}/{id}"))
    report["posts"] = []
    for status in report["statuses"]:
        report["posts"].append(post_shown(status))
        await asyncio.sleep(0)  # others are served between two posts
    target = report["target_account"]
    others = await own_api.ask(
        exchange, API, target_account_id=target["id"], resolved=True, unresolved=True, limit=MOST_OTHERS
    )
    usable = [one for one in ACTIONS if (one[0] not in ON_POSTS or report["posts"]) and _is_for(one[0], target)]
    return admin_page(
        exchange,
        "report.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Reports"),
        report=report,
        target=target,
        notes=await _notes(exchange, id),
        others=[report_shown(one) for one in others if one["id"] != str(id)],
        presets=await own_api.ask(exchange, "/api/v1/admin/warning_presets"),
        actions=usable,
        sent=sent or {"type": "none", "text": "", "send_email_notification": True, "warning_preset_id": ""},
        error=error,
        categories=CATEGORIES,
        may_users=known_rights(exchange).may("manage_users"),
        headers=media_headers(exchange),
    )


def _is_for(action: str, target: dict[str, Any]) -> bool:
    """Whoever lives elsewhere signs in elsewhere."""
    return action != "disable" or target["domain"] is None


async def _notes(exchange: Exchange, id: int) -> list[dict[str, Any]]:
    found = await own_api.ask(exchange, "/api/v1/admin/report_notes", report_id=id)
    if not found:
        return []
    people = await own_api.ask(exchange, "/api/v1/accounts", id=list({one["account_id"] for one in found}))
    names = {one["id"]: one["acct"] for one in people}
    return [{**one, "by": names.get(one["account_id"], ""), "at": moment_of(one["created_at"])} for one in found]


@get(APPEALS)
async def show_appeals(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, APPEALS)
    if visitor is None:
        return admin_page(exchange, "appeals.html", None)
    state = exchange.query("show") if exchange.query("show") in dict(STATES) else "pending"
    pages = {name: exchange.query(name)[:20] for name in ("max_id", "min_id")}
    found, ways = await own_api.ask_page(exchange, "/api/v1/admin/appeals", state=state, limit=PER_PAGE, **pages)
    shown = [
        {
            **one,
            "at": moment_of(one["created_at"]),
            "decided": moment_of(one["decided_at"]),
            "struck": moment_of(one["strike"]["created_at"]),
            "words": STRIKES.get(one["strike"]["action"], one["strike"]["action"]),
        }
        for one in found
    ]
    return admin_page(
        exchange,
        "appeals.html",
        visitor,
        heading=translatable("Appeals"),
        appeals=shown,
        ways=turns(found, ways, pages, PER_PAGE),
        state=state,
        states=STATES,
    )


def media_headers(exchange: Exchange) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"content-security-policy", media_policy(exchange.server.works.settings)),)


routes = [show_queue, show_case, act, show_appeals]
