"""The social API described for programs, from the routes that serve it."""

from __future__ import annotations

import functools

import msgspec

from kith import __version__
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.routing import Route, get
from kith.base.routing.openapi import describe
from kith.social.errors import DIALECT
from kith.social.guards import anyone

SECURITY = {
    "OAuth": {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {"authorizationUrl": "/oauth/authorize", "tokenUrl": "/oauth/token", "scopes": {}}
        },
    }
}


@functools.lru_cache(1)
def _described(routes: tuple[Route, ...], base_url: str) -> bytes:
    spoken = [one for one in routes if one.dialect is DIALECT]
    document = describe(spoken, title="Kith social API", version=__version__, base_url=base_url, security=SECURITY)
    return msgspec.json.encode(document)


@get("/api/v1/openapi.json", guards=[anyone])
async def show_description(exchange: Exchange) -> Answer:
    """Every route of this API, in OpenAPI 3.1."""
    return Answer(200, JSON, _described(exchange.server.routes, exchange.work.settings.base_url))


routes = [show_description]
