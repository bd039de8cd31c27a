"""/settings/lockdown: somebody whose account may be in other hands ends everything of it themselves."""

from __future__ import annotations

from kith.base.errors import Conflict
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import page, see_other
from kith.web.settings.forms import password_problems, read_own_form
from kith.web.settings.frame import settings_page

HERE = "/settings/lockdown"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"


@get(HERE)
async def show_lockdown(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    _refuse_acting(visitor)
    return await _page(exchange, work, visitor)


@post(HERE, status=200)
async def lock(exchange: Exchange, work: Work) -> Answer:
    """The session ends with everything else, so what follows is shown to nobody in particular."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    _refuse_acting(visitor)
    wrong = await password_problems(work, visitor, form)
    if wrong is not None:
        return await _page(exchange, work, visitor, wrong=wrong)
    wanted = identity.lockdown.Lockdown(
        reason=identity.lockdown.OWN_REASON, remove_factors=form.get("remove_factors") == "true"
    )
    user = visitor.user
    try:
        await identity.lockdown.lock(work, user, wanted, by=user.id, by_name=user.username)
    except Conflict as problem:
        await work.rollback()
        return await _page(exchange, work, visitor, wrong=[problem.message], status=409)
    return page(exchange, "settings/locked.html", headers=identity.no_session_cookie(work))


def _refuse_acting(visitor: identity.Visitor) -> None:
    if visitor.is_acting:
        raise identity.impersonation.NotAsSomebodyElse


async def _page(
    exchange: Exchange,
    work: Work,
    visitor: identity.Visitor,
    *,
    wrong: list[str] | None = None,
    status: int | None = None,
) -> Answer:
    return await settings_page(
        exchange,
        "settings/lockdown.html",
        visitor,
        part="security",
        status=status or (400 if wrong else 200),
        is_fresh=identity.account_settings.is_fresh(work, visitor),
        wrong=wrong or [],
    )


routes = [show_lockdown, lock]
