"""Errors as Mastodon's clients read them: `error`, and `details` per field where a form was refused.

They are told in the language the client asks for.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, Malformed, Problem
from kith.base.exchange import Answer, Dialect, Exchange, Headers
from kith.base.limits import Spent
from kith.base.params.folding import fold_body
from kith.social.languages import Language, language, language_of

_CODES = {
    "blank": "ERR_BLANK",
    "taken": "ERR_TAKEN",
    "too_long": "ERR_TOO_LONG",
    "too_short": "ERR_TOO_SHORT",
    "reserved": "ERR_RESERVED",
    "accepted": "ERR_ACCEPTED",
    "blocked": "ERR_BLOCKED",
    "inclusion": "ERR_INCLUSION",
    "unreachable": "ERR_UNREACHABLE",
    "too_many": "ERR_TOO_MANY",
    "below_limit": "ERR_BELOW_LIMIT",
}


def shape(problem: Problem, exchange: Exchange) -> Answer:
    status = 422 if isinstance(problem, Invalid) and problem.fields else problem.status
    language = language_of(exchange)
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json; charset=utf-8"),
        (b"content-language", language.code.encode()),
        (b"vary", b"Authorization, Accept-Language"),
    ]
    headers += [(name.encode(), value.encode()) for name, value in problem.headers.items()]
    spent = problem.extra.get("spent")
    if isinstance(spent, Spent):
        exchange.spent = spent  # the edge tells it, once
    return Answer(status, tuple(headers), msgspec.json.encode(_body(problem, exchange, language)))


def words_of(problem: Problem, exchange: Exchange, code: str) -> str:
    """What a client would be told in this language, without saying first that something is wrong: pages show that."""
    known = language(code)
    told = _body(problem, exchange, known)["error"]
    words = str(told["error"] if isinstance(told, dict) else told)
    return words.removeprefix(f"{known.say('Validation failed')}: ")


def _body(problem: Problem, exchange: Exchange, language: Language) -> dict[str, Any]:
    say = language.say
    if isinstance(problem, Invalid) and problem.fields:
        words = [
            f"{_label(name, language)}{say(complaint)}"
            for name, complaints in problem.fields.items()
            for complaint in complaints
        ]
        details = {
            name: [{"error": _code(complaint), "description": say(str(complaint))} for complaint in complaints]
            for name, complaints in problem.fields.items()
            if name  # what is wrong as a whole is wrong with no field
        }
        said = {"error": f"{say('Validation failed')}: {', '.join(words)}"}
        told = said | {"details": details} if details else said
        return {"error": told} if problem.is_nested else told
    if problem.status == 500:
        return {"error": say("Internal Server Error"), "request_id": exchange.id}
    return {"error": say(problem.message)}


def _label(name: str, language: Language) -> str:
    """What is wrong with everything at once is said in words of its own."""
    if name in ("", "base"):
        return ""
    return f"{language.label(name)} "


def _code(complaint: str) -> str:
    return _CODES.get(complaint.code, "ERR_INVALID") if isinstance(complaint, Complaint) else "ERR_INVALID"


def missing(name: str) -> Malformed:
    """A parameter without which nothing can be done is not there."""
    return Malformed(f"param is missing or the value is empty or invalid: {name}")


def spent_headers(spent: Spent) -> Headers:
    return (
        (b"x-ratelimit-limit", str(spent.limit).encode()),
        (b"x-ratelimit-remaining", str(spent.remaining).encode()),
        (b"x-ratelimit-reset", _moment(spent.resets_at)),
    )


@lru_cache(16)
def _moment(at: datetime) -> bytes:
    """Everybody's windows end together."""
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}".encode()


DIALECT = Dialect(
    name="social",
    headers=((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin")),
    shape=shape,
    cors=True,
    updates_alike=True,
    spent_headers=spent_headers,
    fold=fold_body,
)

# The same for whoever brought a token: what they are told is for nobody else.
PRIVATE = msgspec.structs.replace(
    DIALECT, headers=(*DIALECT.headers, (b"cache-control", b"private, no-store"), (b"vary", b"Authorization"))
)
