"""Authorization requests in a JWT: sent, or at an address that the client registered (OpenID Connect Core 6).

What such an object says counts before the plain parameters. It may be unsigned, unless the client registered how it
signs. Once opened, the request is stored, so that nothing of it can be changed on the way through our pages.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

from kith.base.caches import ForAWhile
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.moments import moment_at
from kith.base.work import Work
from kith.identity.providers.oauth2.authentication.clients import SLACK
from kith.identity.providers.oauth2.authorize.authorization_request import Parameters
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.clients.fetching import NotFetched, fetch
from kith.identity.providers.oauth2.errors import OAuthError, invalid_request
from kith.identity.providers.oauth2.forms import holds_nul
from kith.identity.providers.oauth2.keys import client_keys
from kith.identity.providers.oauth2.keys.signing import BadToken, read_header, read_unchecked

UNSIGNED = "none"
ALGS = [UNSIGNED, *client_keys.ALGS]
MOST_IN_URI = 2000
FETCHES = LimitRule("oauth.request_uri", most=60, seconds=300)  # for one address
FETCHES_OF_CLIENT = LimitRule("oauth.request_uri_of", most=300, seconds=300)
_NAMES = ("request", "request_uri")
_OF_THE_TOKEN = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti", "sub"})
_MOST_PARAMETERS = 100


class RequestDocuments:
    """What was at addresses whose fragment is the hash of it, and which therefore does not change."""

    def __init__(self) -> None:
        self.kept: ForAWhile[str] = ForAWhile("request_objects", seconds=600.0, most=200)


async def open_request(
    exchange: Exchange, client: Client | None, sent: Parameters, *, may_fetch: bool = True
) -> dict[str, str] | None:
    """All parameters of a request that comes as an object; None if it does not. Call it before the first write."""
    if client is None or client.is_social or not any(sent.get(name) for name in _NAMES):
        return None
    if sent.repeated.intersection(_NAMES) or all(sent.get(name) for name in _NAMES):
        raise invalid_request("A request is sent once: as request, or as request_uri.")
    if sent.get("request_uri") and not may_fetch:
        raise invalid_request("A request that is handed in must not name another one.")
    token = sent.get("request") or await _fetched(exchange, client, sent.get("request_uri"))
    claims = await _read(exchange.work, client, token)
    _check_token(exchange.work, client, claims)
    told = {name: _as_text(name, value) for name, value in claims.items() if name not in _OF_THE_TOKEN}
    if holds_nul(told):
        raise _wrong("It holds the character NUL.")
    if len(told) > _MOST_PARAMETERS or any(name in told for name in _NAMES):
        raise _wrong("It must not name another request.")
    plain = {name: value for name, value in sent.values.items() if name not in _NAMES}
    for name in ("client_id", "response_type"):
        if name in told and name in plain and told[name].split() != plain[name].split():
            raise _wrong(f"Its {name} is not that of the request around it.")
    return plain | told


async def _fetched(exchange: Exchange, client: Client, uri: str) -> str:
    """Only addresses that the client registered are asked; their fragments are left to it."""
    place, _, digest = uri.partition("#")
    if len(uri) > MOST_IN_URI or place not in {one.partition("#")[0] for one in client.request_uris}:
        raise OAuthError("invalid_request_uri", "This request_uri is not registered.")
    documents = exchange.find(RequestDocuments)
    kept = documents.kept.get(uri) if digest else None
    if kept is not None:
        return kept
    limiter = exchange.find(Limiter)
    limiter.spend(FETCHES, address_key(exchange.address))
    limiter.spend(FETCHES_OF_CLIENT, client.client_id)
    try:
        body = await fetch(exchange.work, place)
        token = body.decode("ascii").strip()
    except (NotFetched, UnicodeDecodeError) as error:
        raise OAuthError("invalid_request_uri", "There is no request at this request_uri.") from error
    if digest and digest == base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode():
        documents.kept.put(uri, token)
    return token


async def _read(work: Work, client: Client, token: str) -> dict[str, Any]:
    required = client.registered.request_object_signing_alg
    try:
        alg = read_header(token).get("alg")
        if required and alg != required:
            raise _wrong(f"It must be signed with {required}.")
        if alg == UNSIGNED:
            if not token.endswith("."):
                raise BadToken("a signature where none belongs")
            return read_unchecked(token)
        return await client_keys.read_signed(work, client, token, client_keys.ALGS)
    except BadToken as error:
        raise _wrong("It is not well-formed, or not signed with a key of this client.") from error


def _check_token(work: Work, client: Client, claims: dict[str, Any]) -> None:
    if claims.get("iss", client.client_id) != client.client_id:
        raise _wrong("Its iss is not this client.")
    base = work.settings.base_url
    ours = {base, f"{base}/", f"{base}/application/o/authorize/", client.issuer(base)}
    audience = claims.get("aud", base)
    named = audience if isinstance(audience, list) else [audience]
    if not ours.intersection(one for one in named if isinstance(one, str)):
        raise _wrong("Its aud is not this server.")
    for name in ("exp", "nbf", "iat"):
        if name not in claims:
            continue
        value = claims[name]
        moment = None if isinstance(value, bool) or not isinstance(value, (int, float)) else moment_at(value)
        if moment is None or (moment <= work.now - SLACK if name == "exp" else moment > work.now + SLACK):
            raise _wrong(f"It is not valid now ({name}).")


def _as_text(name: str, value: Any) -> str:
    """A parameter as it would be sent plainly."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return msgspec.json.encode(value).decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _wrong(f"Its {name[:50]} has a value of the wrong type.")


def _wrong(words: str) -> OAuthError:
    return OAuthError("invalid_request_object", f"The request object was not accepted. {words}")
