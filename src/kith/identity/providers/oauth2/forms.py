"""Reading the parameters of the endpoints: form bodies, each name once, no secrets in the query."""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec

from kith.base.errors import Malformed
from kith.base.exchange import Exchange
from kith.base.params import BodyLimits
from kith.base.params.nesting import split_pairs
from kith.identity.providers.oauth2.errors import OAuthError, invalid_request

MOST_BYTES = 64 * 1024
_LIMITS = BodyLimits(count=200)
_SECRETS = frozenset(
    {
        "client_secret",
        "access_token",
        "refresh_token",
        "client_assertion",
        "password",
        "code_verifier",
    }
)


async def read_form(exchange: Exchange) -> dict[str, str]:
    """The parameters of a POST; repeated ones and other encodings are refused."""
    kind = exchange.header(b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/x-www-form-urlencoded":
        words = "The body must be application/x-www-form-urlencoded."
        raise OAuthError("invalid_request", words, status=415)
    refuse_secrets_in_query(exchange)
    try:
        return once(split_pairs(await exchange.body(MOST_BYTES), _LIMITS))
    except Malformed as error:
        raise invalid_request(f"{error.message}.") from error


def once(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Parameters with an empty value count as not sent."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found and name not in ("resource", "audience"):
            raise invalid_request(f"The parameter {name[:50]} is given more than once.")
        found[name] = f"{found[name]} {value}" if name in found else value
    return {name: value for name, value in found.items() if value}


def holds_nul(value: object) -> bool:
    """Whether a JSON value has the character NUL in it, which no database stores."""
    return b"\\u0000" in msgspec.json.encode(value)


def refuse_secrets_in_query(exchange: Exchange) -> None:
    """Queries end up in logs and in browser histories."""
    query = exchange.query_string.decode("latin-1")
    if any(name in _SECRETS for name, _ in parse_qsl(query, keep_blank_values=True)):
        raise invalid_request("Secrets must not be sent in the query.")
