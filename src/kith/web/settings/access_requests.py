"""/settings/access: asking for access to applications and groups, and deciding about what others ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from kith.base.errors import Invalid, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import settings_page
from kith.web.translation import translatable

PAGE = "/settings/access"
SIGN_IN = f"/flows/-/default/authentication/?next={PAGE}"
_HOUR, _DAY = 3600, 86_400
_USUAL = (_HOUR, 8 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY, 365 * _DAY)
_NOT_WHILE_ACTING = translatable("You cannot change anything while you are viewing as another person.")


@get(PAGE)
async def show_access(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    return see_other(SIGN_IN) if visitor is None else await _page(exchange, work, visitor)


async def _page(exchange: Exchange, work: Work, visitor: identity.Visitor, *, status: int = 200, **more: Any) -> Answer:
    shown = await identity.access_requests.show(work, visitor.user)
    return await settings_page(
        exchange,
        "settings/access.html",
        visitor,
        part="access",
        status=status,
        may_change=not visitor.is_acting,
        access=shown,
        durations={one.offer.offer_uuid: durations(one.offer.longest) for one in shown.offered},
        length_of=length_of,
        **{"problems": [], "form": {}, **more},
    )


def durations(longest: str) -> list[str]:
    """What to choose from: the usual ones that are allowed, and the longest."""
    most = int(identity.access_requests.seconds_of(longest))
    found = sorted({*(one for one in _USUAL if one < most), most})
    return [_as_offset(seconds) for seconds in found]


def _as_offset(seconds: int) -> str:
    for unit, length in (("days", _DAY), ("hours", _HOUR), ("minutes", 60)):
        if seconds % length == 0:
            return f"{unit}={seconds // length}"
    return f"seconds={seconds}"


def length_of(duration: str) -> tuple[int, str]:
    """How many of which unit, for the words of the page."""
    unit, _, count = _as_offset(int(identity.access_requests.seconds_of(duration))).partition("=")
    return int(count), unit


Change = Callable[[identity.Visitor, dict[str, Any]], Awaitable[None]]


async def _changed(exchange: Exchange, work: Work, change: Change) -> Answer:
    """Back to the page; what cannot be done is said on it, and nothing has changed."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    if visitor.is_acting:
        return await _page(exchange, work, visitor, status=403, problems=[_NOT_WHILE_ACTING])
    try:
        await change(visitor, form)
    except Invalid as problem:
        words = [one for complaints in problem.fields.values() for one in complaints]
        return await _refused(exchange, work, visitor, problem, words, form)
    except Problem as problem:
        return await _refused(exchange, work, visitor, problem, [problem.message], form)
    return see_other(PAGE)


async def _refused(
    exchange: Exchange,
    work: Work,
    visitor: identity.Visitor,
    problem: Problem,
    words: list[str],
    form: dict[str, Any],
) -> Answer:
    await work.rollback()
    return await _page(exchange, work, visitor, status=problem.status, problems=words, form=form)


@post(f"{PAGE}/ask")
async def ask_for_access(exchange: Exchange, work: Work) -> Answer:
    async def change(visitor: identity.Visitor, form: dict[str, Any]) -> None:
        offer, reason, duration = (text_field(form, name) for name in ("offer", "reason", "duration"))
        await identity.access_requests.ask(work, visitor.user, offer, reason, duration)

    return await _changed(exchange, work, change)


@post(f"{PAGE}/{{id}}/approve")
async def approve_access(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    return await _decide(exchange, work, id, approve=True)


@post(f"{PAGE}/{{id}}/refuse")
async def refuse_access(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    return await _decide(exchange, work, id, approve=False)


async def _decide(exchange: Exchange, work: Work, id: str, *, approve: bool) -> Answer:
    async def change(visitor: identity.Visitor, form: dict[str, Any]) -> None:
        answer = text_field(form, "answer")
        await identity.access_requests.decide(work, visitor.user, id, approve=approve, answer=answer)

    return await _changed(exchange, work, change)


@post(f"{PAGE}/{{id}}/withdraw")
async def withdraw_request(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    return await _changed(
        exchange, work, lambda visitor, _form: identity.access_requests.withdraw(work, visitor.user, id)
    )


@post(f"{PAGE}/{{id}}/end")
async def end_access(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    return await _changed(exchange, work, lambda visitor, _form: identity.access_requests.end(work, visitor.user, id))


routes = [
    show_access,
    ask_for_access,
    approve_access,
    refuse_access,
    withdraw_request,
    end_access,
]
