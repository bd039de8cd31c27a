"""The questions of other reverse proxies (forward authentication): may this request go on, and whose is it?

nginx understands 200, 401 and 403 only, and sends people to `start` itself. The others hand any other answer on to
the browser, so they are told where to go.
"""

from __future__ import annotations

from collections.abc import Callable

from kith.base.errors import NotFound, Problem, Throttled, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.identity.audit import service as audit
from kith.identity.gateway import signing_in
from kith.identity.gateway.additional_names import AdditionalNames
from kith.identity.gateway.decisions import Admitted, Decisions, Refused
from kith.identity.gateway.gateways import OUTPOST, Gateway, Gateways
from kith.identity.gateway.headers import NOBODY, OUTPOST_NAME, Pairs
from kith.identity.gateway.logins import carried_key
from kith.identity.gateway.paths import OriginalURL, is_open, read_original

__all__ = [
    "ENDPOINTS",
    "KINDS",
    "NotSetUp",
    "answer_endpoint",
    "answer_question",
    "is_logout",
    "is_navigation",
    "original_of",
    "skips",
]

ENDPOINTS = ("start", "callback", "sign_out")
LOGOUT = "X-Kith-logout=true"
ENVOY = f"{OUTPOST}/auth/envoy"
# Set-ups are wrong for long, and for every request: it is written down now and then.
MISTAKES = LimitRule("gateway-mistakes", most=5, seconds=600)


class NotSetUp(Problem):
    """The outer proxy does not say what it must."""

    status = 500
    code = "configuration_error"
    message = "Configuration error: the proxy in front of this application does not say what was asked for"


def _of_nginx(exchange: Exchange) -> OriginalURL | None:
    return read_original(_said(exchange, b"x-original-url"))


def _of_forwarded(exchange: Exchange) -> OriginalURL | None:
    proto, host = _said(exchange, b"x-forwarded-proto"), _said(exchange, b"x-forwarded-host")
    if not proto or not host:
        return None
    scheme = {"ws": "http", "wss": "https"}.get(proto, proto)
    return read_original(f"{scheme}://{host}{_said(exchange, b'x-forwarded-uri') or '/'}")


def _of_envoy(exchange: Exchange) -> OriginalURL | None:
    """Envoy asks for the original path below its own, with the original Host."""
    raw = exchange.scope["raw_path"].decode("latin-1").removeprefix(ENVOY)
    query = exchange.query_string.decode("latin-1")
    scheme = _said(exchange, b"x-forwarded-proto") or "https"
    return read_original(f"{scheme}://{_said(exchange, b'host')}{raw or '/'}{'?' if query else ''}{query}")


KINDS: dict[str, Callable[[Exchange], OriginalURL | None]] = {
    "nginx": _of_nginx,
    "traefik": _of_forwarded,
    "caddy": _of_forwarded,
    "envoy": _of_envoy,
}


def original_of(exchange: Exchange, scheme: str) -> OriginalURL | None:
    """What a browser asked for that came here itself."""
    raw, query = exchange.scope["raw_path"].decode("latin-1"), exchange.query_string.decode("latin-1")
    return read_original(f"{scheme}://{_said(exchange, b'host')}{raw}{'?' if query else ''}{query}")


def _said(exchange: Exchange, name: bytes) -> str:
    return exchange.header(name).decode("latin-1").strip()


async def answer_question(exchange: Exchange, kind: str) -> Answer:
    asked = KINDS[kind](exchange)
    if asked is None:
        await _note_mistake(exchange, kind)
        raise NotSetUp
    gateway = exchange.find(Gateways).at(asked.place)
    if gateway is None or gateway.is_proxy:
        raise NotFound("There is no such gateway")
    if kind != "nginx":
        own = await _own_endpoint(exchange, gateway, asked)
        if own is not None:
            return own
    return await _answer(exchange, kind, gateway, asked)


async def _own_endpoint(exchange: Exchange, gateway: Gateway, asked: OriginalURL) -> Answer | None:
    """The gateway's endpoints need no way of their own through a proxy that hands every answer on."""
    name = gateway.endpoint_of(asked.place)
    if name is not None and name in ENDPOINTS:
        return await answer_endpoint(exchange, gateway, name, asked)
    return await signing_in.sign_out(exchange, gateway) if is_logout(asked) else None


def is_logout(asked: OriginalURL) -> bool:
    return LOGOUT in asked.query.split("&")


async def answer_endpoint(exchange: Exchange, gateway: Gateway, name: str, asked: OriginalURL) -> Answer:
    match name:
        case "start":
            return await signing_in.start(exchange, gateway, asked)
        case "callback":
            return await signing_in.callback(exchange, gateway, asked)
        case "sign_out":
            return await signing_in.sign_out(exchange, gateway)
    raise NotFound


async def _answer(exchange: Exchange, kind: str, gateway: Gateway, asked: OriginalURL) -> Answer:
    may_skip = skips(gateway, asked)
    decision = await exchange.find(Decisions).decide(exchange, gateway, by_header=not may_skip)
    if isinstance(decision, Admitted):
        return _with_all_names(exchange, kind, decision.headers)
    if may_skip:
        return _with_all_names(exchange, kind, () if kind == "nginx" else NOBODY)
    if kind == "nginx":
        # Also for whoever is refused: nginx would not show our words, `start` does.
        return Answer(401, _first_cookie(exchange, gateway))
    if isinstance(decision, Refused):
        raise await signing_in.refusal_of(exchange, gateway, decision)
    if not is_navigation(exchange):
        raise Unauthenticated
    return await signing_in.to_sign_in(exchange, gateway, signing_in.target_of(gateway, asked.text))


def _with_all_names(exchange: Exchange, kind: str, told: Pairs) -> Answer:
    """Proxies that copy headers put these in the place of what a browser has made up; nginx asks for each by name."""
    empty = () if kind == "nginx" else exchange.find(AdditionalNames).empty_beside(told)
    return Answer(200, (*told, *empty))


def skips(gateway: Gateway, asked: OriginalURL) -> bool:
    """Whether everybody may have this: by its path, for a whole domain by its whole address."""
    before = f"{asked.scheme}://{asked.host}" if gateway.is_domain else ""
    return is_open(gateway.skips, asked.path, before=before)


def is_navigation(exchange: Exchange) -> bool:
    """Whether a person follows a link; scripts and pictures cannot sign in. Old browsers do not say."""
    return exchange.header(b"sec-fetch-mode") in (b"", b"navigate")


def _first_cookie(exchange: Exchange, gateway: Gateway) -> tuple[tuple[bytes, bytes], ...]:
    """A browser without a key gets one already here, if the proxy hands it on."""
    return () if carried_key(exchange, gateway) is not None else (signing_in.new_cookie(gateway),)


async def _note_mistake(exchange: Exchange, kind: str) -> None:
    try:
        exchange.find(Limiter).spend(MISTAKES, kind)
    except Throttled:
        return
    names = sorted({name.decode("latin-1") for name, _ in exchange.scope["headers"]})[:50]
    async with exchange.work.aside() as aside:
        await audit.record(
            aside,
            "configuration_error",
            "providers.gateway",
            context={
                "message": f"A proxy of the kind {kind} asked without saying what for.",
                "provider": None,
                "outpost": OUTPOST_NAME,
                "url": exchange.path[:500],
                "headers": names,
            },
        )
