"""Errors as a person reads them: a page, or the plain `detail` for a program that asked for JSON."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from kith.base import csrf
from kith.base.errors import Invalid, NotFound, Problem, Throttled, Unauthenticated
from kith.base.exchange import Answer, Dialect, Exchange
from kith.base.keys import Keys
from kith.base.own_calls import OwnRoutes
from kith.identity import for_pages as identity
from kith.web.page_language import language_of
from kith.web.pages import NO_STORE, render
from kith.web.translation import translatable

_TITLES = {
    400: translatable("That did not work"),
    401: translatable("Please sign in"),
    403: translatable("Not allowed"),
    404: translatable("Page not found"),
    405: translatable("That did not work"),
    410: translatable("Gone"),
    413: translatable("Too large"),
    429: translatable("Too many requests"),
    500: translatable("Something went wrong on our side"),
    502: translatable("Temporarily unavailable"),
    503: translatable("Temporarily unavailable"),
    504: translatable("Temporarily unavailable"),
    507: translatable("Nothing can be stored at the moment"),
}


MEMBERS_ONLY = translatable("Only members see this page.")
MOST_ABOVE = 6  # pages that are tried, from where somebody was upwards
NOTHING = translatable("There is nothing at this address: it was deleted, never was, or is not for everybody.")


def title_of(problem: Problem) -> str:
    return _TITLES.get(problem.status, translatable("That did not work"))


def wants_json(exchange: Exchange) -> bool:
    accept, sent = exchange.header(b"accept"), exchange.header(b"content-type")
    return b"json" in sent or (b"json" in accept and b"html" not in accept)


def _way_on(problem: Problem, exchange: Exchange) -> str:
    """The page with the form that was refused; of what came too often the same page, or that from which it came."""
    if "back" in problem.extra or not isinstance(problem, Throttled):
        return str(problem.extra.get("back", ""))
    path, query = exchange.path, exchange.query_string.decode("latin-1")
    if path.startswith("//"):
        return ""
    routes = exchange.find(OwnRoutes)
    for _ in range(MOST_ABOVE):
        if not path.strip("/"):
            break
        if routes.has_page(path):
            return f"{quote(path)}{'?' if query else ''}{query}"
        path, query = path.rstrip("/").rpartition("/")[0], ""
    return ""


_MESSAGES = {NotFound.message: NOTHING, Unauthenticated.message: MEMBERS_ONLY}


def _sign_in_at(problem: Problem, exchange: Exchange) -> str:
    """And back to the page, where it is for members only."""
    if problem.status != 401 or exchange.method != "GET":
        return "/auth/sign_in"
    path, query = exchange.path, exchange.query_string.decode("latin-1")
    here = f"{path}?{query}" if query else path
    return f"/flows/-/default/authentication/?next={quote(here, safe='')}"


def shape(problem: Problem, exchange: Exchange) -> Answer:
    headers = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    refusal = problem.extra.get("refusal")  # the code under which a denied access was recorded
    if wants_json(exchange):
        body: object = {"detail": problem.message} | ({"code": refusal} if refusal else {})
        if isinstance(problem, Invalid) and problem.fields:
            body = {name or "non_field_errors": [str(said) for said in words] for name, words in problem.fields.items()}
        return Answer(problem.status, (*headers, (b"content-type", b"application/json")), msgspec.json.encode(body))
    acting = {"csrf": csrf.token_for(exchange, exchange.find(Keys).session)} if exchange.acting else {}
    brand = identity.brands.known(exchange)
    page = render(
        "error.html",
        language_of(exchange),
        acting=exchange.acting,
        **acting,
        site=brand.title,
        brand=brand,
        title=title_of(problem),
        message=_MESSAGES.get(problem.message, problem.message),
        sign_in_at=_sign_in_at(problem, exchange),
        may_sign_in=problem.status in (401, 404) and not identity.carried_key(exchange),
        back=_way_on(problem, exchange),
        wait=problem.retry_after if isinstance(problem, Throttled) else 0,
        request_id=exchange.id if problem.status >= 500 else None,
        code=refusal,
    )
    content = (b"content-type", b"text/html; charset=utf-8")
    return Answer(problem.status, (NO_STORE, *headers, content), page.encode())


DIALECT = Dialect(
    name="pages",
    headers=(
        (
            b"content-security-policy",
            (
                b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
                b"base-uri 'none'; frame-ancestors 'none'"
            ),
        ),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ),
    shape=shape,
    refused=identity.code_for_page,
    enter=identity.recognise,
)
