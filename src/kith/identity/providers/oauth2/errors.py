"""Errors of RFC 6749 and related standards: a registered code and a description for developers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kith.base.errors import Problem, Throttled
from kith.base.exchange import JSON, Answer, Dialect, Exchange, Headers

INVALID_CLIENT = (
    "Client authentication failed due to unknown client, no client authentication included, or unsupported "
    "authentication method."
)
INVALID_GRANT = (
    "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the "
    "authorization request, or was issued to another client."
)
INVALID_SCOPE = "The requested scope is invalid, unknown, or malformed."
UNSUPPORTED_GRANT = "The authorization grant type is not supported by the authorization server."


class OAuthError(Problem):
    """Turned into an answer or a redirect by the endpoint.

    `refusal` is the code of a refusal that is stored already; it may be empty.
    """

    def __init__(
        self,
        error: str,
        description: str = "",
        *,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
        refusal: str | None = None,
    ) -> None:
        super().__init__(f"{error}: {description}", headers=headers)
        self.error = error
        self.description = description
        self.status = status
        self.refusal = refusal

    def body(self) -> dict[str, str]:
        told = {"error": self.error}
        if self.description:
            told["error_description"] = self.description
        return told | {"refusal": self.refusal} if self.refusal else told


def invalid_request(description: str) -> OAuthError:
    return OAuthError("invalid_request", description)


def missing(name: str) -> OAuthError:
    return invalid_request(f"Missing required parameter: {name}.")


def invalid_client(*, basic: bool = False) -> OAuthError:
    headers = {"WWW-Authenticate": 'Basic realm="Kith", error="invalid_client"'} if basic else None
    return OAuthError("invalid_client", INVALID_CLIENT, status=401, headers=headers)


def unfit_proof(words: str) -> OAuthError:
    """For a client whose assertion is signed correctly but is invalid otherwise."""
    return OAuthError("invalid_client", f"The client_assertion was not accepted: {words}", status=401)


def invalid_grant(description: str = INVALID_GRANT) -> OAuthError:
    return OAuthError("invalid_grant", description)


def invalid_scope(description: str = INVALID_SCOPE) -> OAuthError:
    return OAuthError("invalid_scope", description)


# The answer

NO_STORE: Headers = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
_encode = msgspec.json.Encoder().encode


def show(status: int, body: object, headers: Headers) -> Answer:
    return Answer(status, (*JSON, *headers), _encode(body))


def shape(problem: Problem, exchange: Exchange) -> Answer:
    """Why not, in the words of RFC 6749."""
    if isinstance(problem, OAuthError):
        body: dict[str, str] = problem.body()
    elif problem.status >= 500:
        body = {"error": "server_error", "error_description": problem.message, "request_id": exchange.id}
    else:
        code = "temporarily_unavailable" if isinstance(problem, Throttled) else "invalid_request"
        body = {"error": code, "error_description": problem.message}
    headers = tuple(
        (name.lower().encode(), value.encode("latin-1", "replace")) for name, value in problem.headers.items()
    )
    return show(problem.status, body, NO_STORE + headers)


def origin_of(exchange: Exchange) -> str:
    """The origin of the request's script; None if there is none."""
    origin = exchange.header(b"origin").decode("latin-1")
    return origin if origin.startswith(("http://", "https://")) and len(origin) < 300 else ""


def preflight(exchange: Exchange, _allowed: list[str]) -> Answer:
    """The answer to a CORS preflight. The real request decides whether the answer may be read."""
    headers: Headers = ((b"vary", b"Origin"),)
    origin = origin_of(exchange)
    if origin:
        headers += (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
            (b"access-control-allow-headers", b"Authorization, Content-Type"),
            (b"access-control-max-age", b"600"),
        )
    return Answer(204, headers, b"")


DIALECT = Dialect(
    name="oauth",
    headers=((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")),
    shape=shape,
    preflight=preflight,
)
