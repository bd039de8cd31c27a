"""The social API described for programs: its routes, and what the tables of this room say of each."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from kith import __version__
from kith.base.compression import KeptText, answer_of, keep
from kith.base.exchange import Answer, Exchange
from kith.base.routing import Route, get
from kith.base.routing.openapi import describe
from kith.identity import for_social as identity
from kith.social.errors import DIALECT
from kith.social.guards import any_token, anyone
from kith.social.reference import published
from kith.social.reference.answers import HEADERS, PAGING, REFUSALS, responses_of
from kith.social.reference.notation import schema_of

Schema = dict[str, Any]
ABOUT = """\
Posts, people and everything between them, as Mastodon's API does it: any app for Mastodon works here.

Lists come in pages. The `Link` header of an answer has the addresses of the next and the previous page; follow it and
do not make such addresses yourself. A refusal is `{"error": "…"}` in the language the client asks for.
"""


def _security(scopes: list[str]) -> Schema:
    flow = {
        "authorizationUrl": "/oauth/authorize",
        "tokenUrl": "/oauth/token",
        "scopes": {scope: identity.scope_words(scope) for scope in scopes},
    }
    return {
        "OAuth": {"type": "oauth2", "flows": {"authorizationCode": flow}},
        "Token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token, from `kith tokens create` for example.",
        },
    }


def _scopes_of(route: Route) -> list[str]:
    return [scope for guard in route.guards for scope in getattr(guard, "scopes", ())]


def _callers(route: Route) -> list[Schema]:
    """Who may call: any of these. One of a guard's scopes is enough."""
    scopes = _scopes_of(route)
    takes_token = bool(scopes) or any(guard is any_token or hasattr(guard, "scopes") for guard in route.guards)
    if not takes_token:
        return []
    ways: list[Schema] = [{"OAuth": [scope]} for scope in scopes] or [{"OAuth": []}]
    open_to_all = any(getattr(guard, "is_optional", False) for guard in route.guards)
    return [*([{}] if open_to_all else []), *ways, {"Token": []}]


def _told(route: Route, method: str, path: str) -> Schema:
    """What the tables say of an operation."""
    one = published.find(method, path)
    callers = _callers(route)
    told: Schema = {
        "tags": [one.tag],
        "summary": one.summary,
        "responses": responses_of(one, takes_token=bool(callers), has_gaps="{" in path, method=method),
        "security": callers,
    }
    if route.summary:
        told["description"] = route.summary
    if one.paging:
        told["parameters"] = [{"$ref": f"#/components/parameters/{name}"} for name in PAGING[one.paging]]
    return told | ({"deprecated": True} if one.is_deprecated else {})


def _schemas() -> Schema:
    return {
        name: schema_of(one.shape) | ({"description": one.about} if one.about else {})
        for name, one in published.entities().items()
    }


def document_of(routes: tuple[Route, ...], base_url: str) -> Schema:
    spoken = [one for one in routes if one.dialect is DIALECT]
    scopes = sorted({scope for one in spoken for scope in _scopes_of(one)} | {"read", "write", "follow"})
    document = describe(
        spoken,
        title="Kith social API",
        version=__version__,
        base_url=base_url,
        security=_security(scopes),
        tell=_told,
        schemas=_schemas(),
    )
    document["info"]["description"] = ABOUT
    document["tags"] = [{"name": tag} for tag in dict.fromkeys(one.tag for one in published.operations().values())]
    document["components"] |= {"responses": REFUSALS, "headers": HEADERS, "parameters": PAGING["all"]}
    return document


@functools.lru_cache(1)
def _described(routes: tuple[Route, ...], base_url: str) -> KeptText:
    return keep(msgspec.json.encode(document_of(routes, base_url)), "application/json")


@get("/api/v1/openapi.json", guards=[anyone])
async def show_description(exchange: Exchange) -> Answer:
    """Every route of this API, in OpenAPI 3.1."""
    return answer_of(exchange, _described(exchange.server.routes, exchange.work.settings.base_url))


routes = [show_description]
