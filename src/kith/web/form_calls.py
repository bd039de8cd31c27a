"""POST /web/api/…: every verb of the API for forms, so that pages need no script.

The form's fields are the parameters. `_method` names another method than POST, `next` the page to go back to. A page
that was changed is shown anew; what was refused is shown as a page that says why.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from kith.base.errors import Invalid, NotFound, Problem, Unauthenticated, Unprocessable
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.params.nesting import nest
from kith.base.routing import FromPath, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field

METHODS = frozenset(("POST", "PUT", "PATCH", "DELETE"))
OWN_FIELDS = frozenset(("csrf", "next", "at", "_method"))
ACTS = LimitRule("page-forms", most=300, seconds=300)


@post("/web/api/{path:path}")
async def act(exchange: Exchange, path: FromPath[str]) -> Answer:
    """A form of ours, sent to the API in the sender's name."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        raise Unauthenticated
    method = text_field(form, "_method").upper() or "POST"
    if method not in METHODS or not path.startswith(("v1/", "v2/", "v3/")):
        raise NotFound
    exchange.find(Limiter).spend(ACTS, str(visitor.user.id))
    given = {**nest(_in_address(exchange)), **form}
    given = {name: value for name, value in given.items() if name not in OWN_FIELDS}
    try:
        await own_api.call(exchange, method, f"/api/{path}", form=given)
    except Problem as problem:
        problem.extra["back"] = _back(form)
        words = own_api.words_of(exchange, problem)
        if isinstance(problem, Invalid):
            raise Unprocessable(words, extra=problem.extra) from problem
        if problem.message != type(problem).message:  # said of this very thing, and not of any such
            problem.message = words
        raise
    return see_other(_back(form))


def _in_address(exchange: Exchange) -> list[tuple[str, str]]:
    """What a single button says beyond the fields that all buttons of its form share."""
    return parse_qsl(exchange.query_string.decode("latin-1"), keep_blank_values=True)


def _back(form: dict[str, Any]) -> str:
    """To the page it came from, and there to the post whose button it was."""
    at = text_field(form, "at")
    place = f"#post-{at}" if at.isascii() and at.isdigit() else ""
    return identity.safe_path(text_field(form, "next"), "/") + place


routes = [act]
