"""How the identity API answers with errors: `detail`, or a list of complaints for each field."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound, Problem, Throttled, Unavailable
from kith.base.exchange import Answer, Dialect, Exchange

JSON = (b"content-type", b"application/json")
_WORDS = {
    403: "You do not have permission to perform this action.",
    404: "Not found.",
    500: "A server error occurred.",
    503: "Service temporarily unavailable, try again later.",
    507: "The server has no room left to store this. Reading still works; try again later.",
}


_TOLD = ("code", "permission", "references")  # what an error may say beside its words


def shape(problem: Problem, exchange: Exchange) -> Answer:
    headers = [JSON, *((name.encode(), value.encode()) for name, value in problem.headers.items())]
    if isinstance(problem, Unavailable) and "Retry-After" not in problem.headers:
        headers.append((b"retry-after", b"5"))
    return Answer(problem.status, tuple(headers), msgspec.json.encode(_body(problem, exchange)))


def _body(problem: Problem, exchange: Exchange) -> dict[str, Any]:
    if isinstance(problem, Invalid) and problem.fields:
        return {name or "non_field_errors": [str(said) for said in words] for name, words in problem.fields.items()}
    if isinstance(problem, Throttled):
        return {"detail": f"Request was throttled. Expected available in {problem.retry_after} seconds."}
    detail = problem.message
    plain = type(problem).__module__ == Problem.__module__ and problem.message == type(problem).message
    if isinstance(problem, NotFound) or problem.status >= 500 or plain:
        detail = _WORDS.get(problem.status, problem.message)
    body: dict[str, Any] = {"detail": detail}
    if problem.status == 500:
        body["request_id"] = exchange.id
    return body | {name: problem.extra[name] for name in _TOLD if name in problem.extra}


DIALECT = Dialect(
    name="identity",
    headers=(
        (b"cache-control", b"no-store"),
        (b"vary", b"Authorization, Cookie"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ),
    shape=shape,
)
