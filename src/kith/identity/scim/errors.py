"""Errors in SCIM's shape: a status, a detail, and for some a `scimType` that programs can act on."""

from __future__ import annotations

import msgspec

from kith.base.errors import Invalid, NotFound, Problem, Unavailable
from kith.base.exchange import Answer, Dialect, Exchange

ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
SCIM_JSON = b"application/scim+json"


class ScimError(Problem):
    """`kind` is one of the words of RFC 7644, section 3.12, such as `uniqueness`; it may be empty."""

    def __init__(self, message: str, kind: str = "", *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


def invalid_value(words: str) -> ScimError:
    return ScimError(words, "invalidValue")


def taken(words: str) -> ScimError:
    return ScimError(words, "uniqueness", status=409)


def shape(problem: Problem, exchange: Exchange) -> Answer:
    body = {"schemas": [ERROR], "status": str(problem.status)}
    kind = _kind(problem)
    if kind:
        body["scimType"] = kind
    body["detail"] = _words(problem, exchange)
    headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in problem.headers.items()]
    if isinstance(problem, Unavailable) and "Retry-After" not in problem.headers:
        headers.append((b"retry-after", b"5"))
    return Answer(problem.status, ((b"content-type", SCIM_JSON), *headers), msgspec.json.encode(body))


def _kind(problem: Problem) -> str:
    if isinstance(problem, ScimError):
        return problem.kind
    if isinstance(problem, Invalid):
        return "invalidValue"
    return "invalidSyntax" if problem.status == 400 else ""


def _words(problem: Problem, exchange: Exchange) -> str:
    if isinstance(problem, Invalid) and problem.fields:
        return "; ".join(f"{name}: {' '.join(map(str, words))}" for name, words in problem.fields.items())
    if isinstance(problem, NotFound) and problem.message == NotFound.message:
        return "There is no such resource."
    return f"{problem.message} (request {exchange.id})" if problem.status >= 500 else problem.message


DIALECT = Dialect(
    name="scim",
    headers=(
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ),
    shape=shape,
)
