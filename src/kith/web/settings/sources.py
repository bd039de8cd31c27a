"""Unlinking accounts elsewhere that one signs in with. Linking begins at the address of the source."""

from __future__ import annotations

from kith.base.errors import Conflict
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import SECURITY_PAGE, SIGN_IN, password_problems, read_own_form
from kith.web.settings.frame import settings_page
from kith.web.settings.security import security_page


@post(f"{SECURITY_PAGE}/sources/{{id}}/unlink")
async def unlink_source(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    """Who has not proved lately who they are is asked for the password first."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    wrong = await password_problems(work, visitor, form)
    if wrong is not None:
        return await settings_page(
            exchange,
            "settings/unlink_source.html",
            visitor,
            part="security",
            status=400 if wrong else 200,
            connection=id,
            wrong=wrong,
        )
    try:
        await identity.sources.unlink(work, visitor.user, id)
    except Conflict as problem:
        return await security_page(exchange, work, visitor, status=409, errors={"sources": [problem.message]})
    return see_other(f"{SECURITY_PAGE}#sources")


routes = [unlink_source]
