"""/application/o/: the endpoints for programs. The pages (authorize, end-session) are in the web room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.routing import FromPath, Route, delete, get, post, put, route
from kith.base.work import Work
from kith.identity.providers.oauth2.authentication.clients import read_client
from kith.identity.providers.oauth2.authorize import pushed_requests
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.device import codes as device
from kith.identity.providers.oauth2.discovery import metadata as discovery
from kith.identity.providers.oauth2.errors import DIALECT, NO_STORE, OAuthError, origin_of, show
from kith.identity.providers.oauth2.forms import read_form, refuse_secrets_in_query
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.registration import dynamic as registration
from kith.identity.providers.oauth2.registration import management
from kith.identity.providers.oauth2.token import introspection, userinfo
from kith.identity.providers.oauth2.token.endpoint import answer_token

PREFIX = "/application/o/"
_PUBLIC: Headers = ((b"cache-control", b"public, max-age=900"), (b"access-control-allow-origin", b"*"))


# Forms


def _form(name: str, respond: Callable[[Exchange, dict[str, str]], Awaitable[dict[str, Any]]]) -> Route:
    """A POST by a client; scripts of its own site may read the answer."""

    async def answer(exchange: Exchange) -> Answer:
        sent: dict[str, str] = {}
        try:
            sent = await read_form(exchange)
            answered = show(200, await respond(exchange, sent), NO_STORE)
        except OAuthError as error:
            answered = DIALECT.shape(error, exchange)
        sharing = await _sharing(exchange, sent)
        return Answer(answered.status, (*answered.headers, *sharing), answered.body)

    return post(f"{PREFIX}{name}/")(answer)


async def _token(exchange: Exchange, sent: dict[str, str]) -> dict[str, Any]:
    return await answer_token(exchange, sent, social=False)


async def _revoke(exchange: Exchange, sent: dict[str, str]) -> dict[str, Any]:
    await introspection.answer_revoke(exchange, sent)
    return {}


# The rest


@route(("GET", "POST"), f"{PREFIX}userinfo/")
async def show_userinfo(exchange: Exchange) -> Answer:
    refuse_secrets_in_query(exchange)
    has_form = exchange.method == "POST" and exchange.header(b"content-type").startswith(
        b"application/x-www-form-urlencoded"
    )
    told, client = await userinfo.answer_userinfo(exchange, await read_form(exchange) if has_form else {})
    headers = NO_STORE + _cors(exchange, client)
    if isinstance(told, str):
        return Answer(200, ((b"content-type", b"application/jwt"), *headers), told.encode())
    return show(200, told, headers)


@post(f"{PREFIX}par/")
async def push_request(exchange: Exchange) -> Answer:
    return show(201, await pushed_requests.hand_in(exchange), NO_STORE)


@get(f"{PREFIX}jwks/")
async def show_all_keys(work: Work) -> Answer:
    return show(200, await keys.public_keys(work, None), _PUBLIC)


@get(f"{PREFIX}{{slug}}/jwks/")
async def show_keys(work: Work, slug: FromPath[str]) -> Answer:
    return show(200, await keys.public_keys(work, await _application(work, slug)), _PUBLIC)


def _discovery(template: str) -> Route:
    async def describe(work: Work, slug: FromPath[str]) -> Answer:
        return show(200, await discovery.describe(work, await _application(work, slug)), _PUBLIC)

    return get(template)(describe)


@get("/.well-known/openid-configuration")
async def describe_server(work: Work) -> Answer:
    return show(200, await discovery.describe(work, None), _PUBLIC)


@get("/.well-known/oauth-authorization-server")
async def describe_social_server(work: Work) -> Answer:
    return show(200, discovery.describe_social(work), _PUBLIC)


@post(f"{PREFIX}{{slug}}/register/")
async def register(exchange: Exchange, slug: FromPath[str]) -> Answer:
    made = await registration.answer_register(exchange, slug)
    if made is None:
        raise NotFound
    return show(201, made, NO_STORE)


_REGISTERED = f"{PREFIX}{{slug}}/register/{{client_id}}/"


@get(_REGISTERED)
async def read_registration(exchange: Exchange, slug: FromPath[str], client_id: FromPath[str]) -> Answer:
    return show(200, await management.answer_read(exchange, slug, client_id), NO_STORE)


@put(_REGISTERED)
async def change_registration(exchange: Exchange, slug: FromPath[str], client_id: FromPath[str]) -> Answer:
    return show(200, await management.answer_change(exchange, slug, client_id), NO_STORE)


@delete(_REGISTERED)
async def delete_registration(exchange: Exchange, slug: FromPath[str], client_id: FromPath[str]) -> Answer:
    await management.answer_delete(exchange, slug, client_id)
    return Answer(204, NO_STORE, b"")


async def _application(work: Work, slug: str) -> Client:
    client = await clients.find_by_slug(work, slug) if "\0" not in slug else None
    if client is None:
        raise NotFound
    return client


# Scripts of other sites


async def _sharing(exchange: Exchange, sent: dict[str, str]) -> Headers:
    """CORS: scripts of the sites in the client's redirect URIs may read its answers."""
    if not origin_of(exchange):
        return ()
    try:
        shown = read_client(exchange, sent)
    except OAuthError:
        return ((b"vary", b"Origin"),)
    return _cors(exchange, await clients.find(exchange.work, shown.client_id))


def _cors(exchange: Exchange, client: Client | None) -> Headers:
    origin = origin_of(exchange)
    if not origin:
        return ()
    if client is None or origin not in _origins(client):
        return ((b"vary", b"Origin"),)
    return ((b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"))


def _origins(client: Client) -> set[str]:
    if client.matching != "strict":
        return set()
    found = set()
    for uri in client.redirect_uris:
        parts = urlsplit(uri)
        if parts.scheme in ("http", "https") and parts.netloc:
            found.add(f"{parts.scheme}://{parts.netloc}".lower())
    return found


_NAMES = ("openid-configuration", "oauth-authorization-server")
entering = [
    _form("token", _token),
    _form("revoke", _revoke),
    _form("introspect", introspection.answer_introspect),
    _form("device", device.start),
    show_userinfo,
    push_request,
]
routes = [
    show_all_keys,
    show_keys,
    *(_discovery(f"{PREFIX}{{slug}}/.well-known/{name}") for name in _NAMES),
    *(_discovery(f"/.well-known/{name}{PREFIX}{{slug}}") for name in _NAMES),
    describe_server,
    describe_social_server,
    register,
    read_registration,
    change_registration,
    delete_registration,
]
