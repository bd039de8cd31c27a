"""/staff/lockdown/: administrators end everything of one person, after they have seen what that is."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote

from kith.base import csrf
from kith.base.errors import Invalid, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import page, see_other

HERE = "/staff/lockdown/"


@get(HERE)
async def show_form(exchange: Exchange) -> Answer:
    asked = parse_qs(exchange.query_string.decode("latin-1"))
    values = {"username": asked.get("username", [""])[-1][:150], "reason": ""}
    return await _page(exchange, values=values, done=asked.get("locked", [""])[-1][:150])


@post(HERE, status=200)
async def lock(exchange: Exchange, work: Work) -> Answer:
    """First the question whether this is meant, with what would end; then the deed."""
    await identity.staff.get_staff(exchange)
    form = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(form.get("csrf", "")))
    staff = await identity.staff.get_staff(exchange)  # again: the form may have come slowly
    if staff.is_acting:
        raise identity.impersonation.NotAsSomebodyElse
    values = {name: str(form.get(name, "")).replace("\0", "").strip() for name in ("username", "reason")}
    ticks = {name: form.get(name) == "true" for name in ("remove_factors", "notify")}
    try:
        user = await identity.staff.get_user(work, values["username"])
        wanted = identity.lockdown.Lockdown(reason=identity.lockdown.check_reason(values["reason"]), **ticks)
        await identity.staff.refuse_if_above(work, staff, user.id)
        if form.get("confirm") != user.username:
            counts = await identity.lockdown.count(work, user.id)
            return await _page(exchange, values=values, ticks=ticks, user=user, counts=counts)
        await identity.lockdown.lock(work, user, wanted, by=staff.user.id, by_name=staff.user.username)
    except Invalid as problem:
        return await _page(exchange, values=values, ticks=ticks, errors=problem.fields, status=400)
    except Problem as problem:
        await work.rollback()
        errors = {"username": [problem.message]}
        return await _page(exchange, values=values, ticks=ticks, errors=errors, status=problem.status)
    return see_other(f"{HERE}?locked={quote(user.username)}")


async def _page(exchange: Exchange, *, status: int = 200, **values: Any) -> Answer:
    visitor = await identity.staff.get_staff(exchange)
    errors = values.get("errors", {})
    shown = {
        "values": {},
        "ticks": {"remove_factors": False, "notify": True},
        "user": None,
        "counts": None,
        "done": "",
        "errors": errors,
        "focus": next(iter(errors), None),
    }
    return page(exchange, "staff/lockdown.html", status=status, visitor=visitor, here="staff", **(shown | values))


routes = [show_form, lock]
