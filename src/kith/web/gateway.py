"""What the gateway says to people. Its pages stand on hosts of other applications, so they bring their style along."""

from __future__ import annotations

import base64
import hashlib

import msgspec

from kith.base.errors import Problem
from kith.base.exchange import Answer, Dialect, Exchange
from kith.identity import for_pages as identity
from kith.web.assets import STYLE
from kith.web.errors import title_of, wants_json
from kith.web.page_language import language_of
from kith.web.pages import NO_STORE, render

_STYLE = STYLE.decode()
_HASH = base64.b64encode(hashlib.sha256(STYLE).digest())


def shape(problem: Problem, exchange: Exchange) -> Answer:
    headers = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    refusal = problem.extra.get("refusal")  # the code under which a denied access was recorded
    if wants_json(exchange):
        body = {"detail": problem.message} | ({"code": refusal} if refusal else {})
        return Answer(problem.status, (*headers, (b"content-type", b"application/json")), msgspec.json.encode(body))
    settings = exchange.server.works.settings
    page = render(
        "gateway.html",
        language_of(exchange),
        style=_STYLE,
        site=identity.brands.known(exchange).title,
        home=f"{settings.base_url}/",
        title=title_of(problem),
        message=problem.message,
        request_id=exchange.id if problem.status >= 500 else None,
        code=refusal,
        again=problem.extra.get("again"),
    )
    return Answer(problem.status, (*headers, (b"content-type", b"text/html; charset=utf-8")), page.encode())


DIALECT = Dialect(
    name="gateway",
    headers=(
        (
            b"content-security-policy",
            b"default-src 'none'; style-src 'sha256-" + _HASH + b"'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        NO_STORE,  # whatever the gateway itself says is said to one person
    ),
    shape=shape,
)
