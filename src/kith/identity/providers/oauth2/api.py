"""/application/o/: what programs ask of the engine. Pages (authorize, end-session) are shown elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.edge import Answer, Exchange, Headers
from kith.base.errors import MethodNotAllowed, Problem, Throttled
from kith.identity.providers.oauth2 import clients, device, discovery, keys, pushed, registration, userinfo
from kith.identity.providers.oauth2.authenticate import read_client
from kith.identity.providers.oauth2.clients import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.forms import read_form, refuse_secrets_in_query
from kith.identity.providers.oauth2.token import answer_token

PREFIX = "/application/o/"
WELL_KNOWN = "/.well-known/"
_JSON = (b"content-type", b"application/json")
_NO_STORE: Headers = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
_PUBLIC: Headers = ((b"cache-control", b"public, max-age=900"),)
_ANYONE = (b"access-control-allow-origin", b"*")
_encode = msgspec.json.Encoder().encode

Handler = Callable[[Exchange, dict[str, str]], Awaitable[Answer]]


async def answer(exchange: Exchange) -> Answer | None:
    """None for what is a page, or is not here."""
    parts = exchange.path.removeprefix(PREFIX).strip("/").split("/")
    match parts:
        case [name] if name in _FORMS:
            exchange.scope["path_template"] = f"{PREFIX}{name}/"
            return await _form(exchange, name)
        case ["userinfo"]:
            exchange.scope["path_template"] = f"{PREFIX}userinfo/"
            return await _answered(exchange, ("GET", "POST"), _userinfo)
        case ["par"]:
            exchange.scope["path_template"] = f"{PREFIX}par/"
            return await pushed.answer(exchange)
        case ["jwks"]:
            exchange.scope["path_template"] = f"{PREFIX}jwks/"
            return await _answered(exchange, ("GET",), _all_keys)
        case [slug, "jwks"]:
            exchange.scope["path_template"] = f"{PREFIX}{{slug}}/jwks/"
            return await _of_application(exchange, slug, keys.public_keys)
        case [slug, ".well-known", "openid-configuration" | "oauth-authorization-server"]:
            exchange.scope["path_template"] = f"{PREFIX}{{slug}}/.well-known/openid-configuration"
            return await _of_application(exchange, slug, discovery.describe)
        case [slug, "register"]:
            exchange.scope["path_template"] = f"{PREFIX}{{slug}}/register/"
            return await _register(exchange, slug)
    return None


async def answer_well_known(exchange: Exchange) -> Answer | None:
    """Discovery for the whole server, and by RFC 8414's way of naming an application's."""
    name, _, rest = exchange.path.removeprefix(WELL_KNOWN).strip("/").partition("/")
    if name not in ("openid-configuration", "oauth-authorization-server"):
        return None
    if exchange.scope["method"] == "OPTIONS":
        return None
    exchange.scope["path_template"] = f"{WELL_KNOWN}{name}"
    match rest.split("/"):
        case [""]:
            return await _answered(exchange, ("GET",), _server if name == "openid-configuration" else _social_server)
        case ["application", "o", slug]:
            return await _of_application(exchange, slug, discovery.describe, shared=False)
    return None


async def _of_application(
    exchange: Exchange, slug: str, tell: Callable[[Any, Client], Awaitable[dict[str, Any]]], *, shared: bool = True
) -> Answer | None:
    client = await clients.find_by_slug(exchange.work, slug) if "\0" not in slug else None
    if client is None:
        return None

    async def told(one: Exchange) -> Answer:
        return _show(200, await tell(one.work, client), _PUBLIC + ((_ANYONE,) if shared else ()))

    return await _answered(exchange, ("GET",), told)


# Forms


async def _form(exchange: Exchange, name: str) -> Answer:
    """A POST by a client, which scripts of its own site may read the answer of."""
    if exchange.scope["method"] == "OPTIONS":
        return _preflight(exchange)
    sent: dict[str, str] = {}

    async def told(one: Exchange) -> Answer:
        sent.update(await read_form(one))
        return await _FORMS[name](one, sent)

    answered = await _answered(exchange, ("POST",), told)
    return _with(answered, await _sharing(exchange, sent))


async def _token(exchange: Exchange, sent: dict[str, str]) -> Answer:
    return _show(200, await answer_token(exchange, sent, social=False), _NO_STORE)


async def _revoke(exchange: Exchange, sent: dict[str, str]) -> Answer:
    await userinfo.answer_revoke(exchange, sent)
    return _show(200, {}, _NO_STORE)


async def _introspect(exchange: Exchange, sent: dict[str, str]) -> Answer:
    return _show(200, await userinfo.answer_introspect(exchange, sent), _NO_STORE)


async def _device(exchange: Exchange, sent: dict[str, str]) -> Answer:
    return _show(200, await device.start(exchange, sent), _NO_STORE)


_FORMS: dict[str, Handler] = {
    "token": _token,
    "revoke": _revoke,
    "introspect": _introspect,
    "device": _device,
}


# The rest


async def _userinfo(exchange: Exchange) -> Answer:
    refuse_secrets_in_query(exchange)
    has_form = exchange.scope["method"] == "POST" and exchange.header(b"content-type").startswith(
        b"application/x-www-form-urlencoded"
    )
    told, client = await userinfo.answer_userinfo(exchange, await read_form(exchange) if has_form else {})
    return _show(200, told, _NO_STORE + _cors(exchange, client))


async def _all_keys(exchange: Exchange) -> Answer:
    return _show(200, await keys.public_keys(exchange.work, None), (*_PUBLIC, _ANYONE))


async def _server(exchange: Exchange) -> Answer:
    return _show(200, await discovery.describe(exchange.work, None), _PUBLIC)


async def _social_server(exchange: Exchange) -> Answer:
    return _show(200, discovery.describe_social(exchange.work), _PUBLIC)


async def _register(exchange: Exchange, slug: str) -> Answer | None:
    missing = False

    async def told(one: Exchange) -> Answer:
        nonlocal missing
        made = await registration.answer_register(one, slug)
        missing = made is None
        return _show(201, made, _NO_STORE)

    answered = await _answered(exchange, ("POST",), told)
    return None if missing else answered


# How it is said


async def _answered(
    exchange: Exchange, methods: tuple[str, ...], told: Callable[[Exchange], Awaitable[Answer]]
) -> Answer:
    """What `told` says, or why not in the words of RFC 6749."""
    try:
        if exchange.scope["method"] == "OPTIONS":
            return _preflight(exchange)
        if exchange.scope["method"] not in methods:
            allowed = ", ".join((*methods, "OPTIONS"))
            raise MethodNotAllowed(headers={"Allow": allowed})
        return await told(exchange)
    except OAuthError as error:
        return _refuse(error)
    except Problem as problem:
        if problem.status >= 500:
            raise
        code = "temporarily_unavailable" if isinstance(problem, Throttled) else "invalid_request"
        return _refuse(OAuthError(code, problem.message, status=problem.status, headers=problem.headers))


def _refuse(error: OAuthError) -> Answer:
    headers = tuple(
        (name.lower().encode(), value.encode("latin-1", "replace")) for name, value in error.headers.items()
    )
    return _show(error.status, error.body(), _NO_STORE + headers)


def _show(status: int, body: object, headers: Headers) -> Answer:
    return Answer(status, (_JSON, *headers), _encode(body))


def _with(answer: Answer, headers: Headers) -> Answer:
    return Answer(answer.status, (*answer.headers, *headers), answer.body)


# Scripts of other sites


def _origin(exchange: Exchange) -> str:
    """The site a script runs on; one that has none is nobody's."""
    origin = exchange.header(b"origin").decode("latin-1")
    return origin if origin.startswith(("http://", "https://")) and len(origin) < 300 else ""


def _preflight(exchange: Exchange) -> Answer:
    """That a script may ask. Whether it may read the answer is decided there, once the client is known."""
    headers: Headers = ((b"vary", b"Origin"),)
    origin = _origin(exchange)
    if origin:
        headers += (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
            (b"access-control-allow-headers", b"Authorization, Content-Type"),
            (b"access-control-max-age", b"600"),
        )
    return Answer(204, headers, b"")


async def _sharing(exchange: Exchange, sent: dict[str, str]) -> Headers:
    """Scripts of the sites that a client's people are sent back to may read its answers."""
    if not _origin(exchange):
        return ()
    try:
        shown = read_client(exchange, sent)
    except OAuthError:
        return ((b"vary", b"Origin"),)
    return _cors(exchange, await clients.find(exchange.work, shown.client_id))


def _cors(exchange: Exchange, client: Client | None) -> Headers:
    origin = _origin(exchange)
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
