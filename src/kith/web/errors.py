"""Errors as a person reads them: a page, or the plain `detail` for a program that asked for JSON."""

from __future__ import annotations

import msgspec

from kith.base.edge import Answer, Exchange, Face, header
from kith.base.errors import Invalid, Problem
from kith.web.pages import render

_TITLES = {
    400: "That did not work",
    401: "Please sign in",
    403: "Not allowed",
    404: "Nothing here",
    405: "That did not work",
    410: "Gone",
    413: "Too large",
    429: "Too many requests",
    500: "Something went wrong on our side",
    503: "Back in a moment",
}


def wants_json(exchange: Exchange) -> bool:
    accept, sent = header(exchange.scope, b"accept"), header(exchange.scope, b"content-type")
    return b"json" in sent or (b"json" in accept and b"html" not in accept)


def shape(problem: Problem, exchange: Exchange) -> Answer:
    headers = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    if wants_json(exchange):
        body: object = {"detail": problem.message}
        if isinstance(problem, Invalid) and problem.fields:
            body = {name or "non_field_errors": [str(said) for said in words] for name, words in problem.fields.items()}
        return Answer(problem.status, (*headers, (b"content-type", b"application/json")), msgspec.json.encode(body))
    page = render(
        "error.html",
        site=exchange.edge.works.settings.title,
        title=_TITLES.get(problem.status, "That did not work"),
        message=problem.message,
        request_id=exchange.id if problem.status >= 500 else None,
    )
    return Answer(problem.status, (*headers, (b"content-type", b"text/html; charset=utf-8")), page.encode())


FACE = Face(
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
)
