"""/settings/security: one's own address, password, two-factor sign-in, sessions, tokens, consents, recent activity."""

from __future__ import annotations

from functools import partial
from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.browser_names import browser_name
from kith.web.pages import see_other
from kith.web.settings.forms import SECURITY_PAGE, SIGN_IN, read_own_form
from kith.web.settings.frame import settings_page
from kith.web.settings.recent_activity import details_of, sentence_about

MOST_PAGES = 10_000
OF_AN_APP = "read write follow push"


@get(SECURITY_PAGE)
async def show_security(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    form = {"api": {"scopes": OF_AN_APP}} if exchange.query("new") == "token" else {}
    return await security_page(exchange, work, visitor, form=form)


async def security_page(
    exchange: Exchange, work: Work, visitor: identity.Visitor, *, status: int = 200, **values: Any
) -> Answer:
    number = _page_number(exchange)
    events, more = await identity.account_settings.list_events(work, visitor, number)
    return await settings_page(
        exchange,
        "settings/security.html",
        visitor,
        part="security",
        status=status,
        may_change=not visitor.is_acting,
        confirms_email=work.settings.confirm_email,
        sessions=await identity.account_settings.list_sessions(work, visitor),
        devices=await identity.account_settings.list_devices(work, visitor),
        set_up=await identity.account_settings.set_up_flows(work),
        tokens=await identity.account_settings.list_tokens(work, visitor),
        consents=await identity.account_settings.list_consents(work, visitor),
        linked=await identity.sources.of_user(work, visitor.user.id),
        linkable=await identity.sources.linkable(work),
        events=events,
        older=number + 1 if more else None,
        newer=number - 1 if number > 1 else None,
        browser_name=browser_name,
        place_of=partial(identity.place_of, work),
        sentence_about=sentence_about,
        details_of=details_of,
        **{"key": None, "errors": {}, "form": {}, **values},
    )


def _page_number(exchange: Exchange) -> int:
    """`?page=` of the recent activity; the first page if it is not a number."""
    query = exchange.query_string.decode("latin-1")
    given = next((part[5:] for part in query.split("&") if part.startswith("page=")), "")
    return min(max(int(given), 1), MOST_PAGES) if given.isascii() and given.isdigit() and len(given) < 7 else 1


@post(f"{SECURITY_PAGE}/sessions/{{id}}/end")
async def end_session(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None and await identity.account_settings.end_session(work, visitor, id):
        return see_other("/", headers=identity.no_session_cookie(work))
    return see_other(f"{SECURITY_PAGE}#sessions")


@post(f"{SECURITY_PAGE}/sessions/end-others")
async def end_other_sessions(exchange: Exchange, work: Work) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None:
        await identity.account_settings.end_other_sessions(work, visitor)
    return see_other(f"{SECURITY_PAGE}#sessions")


@post(f"{SECURITY_PAGE}/sessions/end-all")
async def end_all_sessions(exchange: Exchange, work: Work) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None:
        await identity.account_settings.end_all_sessions(work, visitor)
    return see_other("/", headers=identity.no_session_cookie(work))


@post(f"{SECURITY_PAGE}/consents/{{id}}/withdraw")
async def withdraw_consent(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    visitor, _ = await read_own_form(exchange)
    if visitor is not None:
        await identity.account_settings.withdraw_consent(work, visitor, id)
    return see_other(f"{SECURITY_PAGE}#consents")


routes = [show_security, end_session, end_other_sessions, end_all_sessions, withdraw_consent]
