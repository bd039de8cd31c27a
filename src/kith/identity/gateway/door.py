"""Where requests for the gateway come in: by the host they name, or by the path of its endpoints.

The question of an outer proxy is asked for every picture of every page, so the usual yes is given here, from what was
decided a moment ago, before anything else is made of the request.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from random import getrandbits
from urllib.parse import urlsplit

from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Answer, Dialect, Exchange, Receive, Scope, Send, Server
from kith.base.log import AccessLog
from kith.base.metrics import IN_FLIGHT, REQUESTS
from kith.base.server.call import ClientGone
from kith.identity.gateway import proxy, questions, signing_in, sockets
from kith.identity.gateway.decisions import Admitted, Decisions, Refused
from kith.identity.gateway.gateways import OUTPOST, SOON_SECONDS, Gateway, Gateways
from kith.identity.gateway.logins import CHALLENGE
from kith.identity.gateway.paths import HostPath, OriginalURL, host_key
from kith.identity.gateway.proxy import BadGateway, LateGateway
from kith.identity.gateway.questions import NotSetUp

__all__ = ["GatewayDoor"]

App = Callable[[Scope, Receive, Send], Awaitable[None]]
_ENDPOINTS = f"{OUTPOST}/"
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"))
_SHORT = ((b"content-length", b"0"), (b"cache-control", b"no-store"))
_QUESTION = "gateway auth/nginx"
_EXPECTED = (BadGateway, LateGateway, NotSetUp)


class GatewayDoor:
    """The ASGI application. What is not the gateway's goes to `app`; without one it is not found."""

    def __init__(self, server: Server, dialect: Dialect, access_log: AccessLog, app: App | None = None) -> None:
        self._app = app
        self._server = server
        self._dialect = dialect
        self._access_log = access_log
        services, base = server.works.services, urlsplit(server.works.settings.base_url)
        self._gateways: Gateways = services[Gateways]
        self._decisions: Decisions = services[Decisions]
        self._own_host = host_key(base.netloc, base.scheme) if app is not None else None
        self._observers: dict[tuple[str, str, int], Callable[[float], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        path: str = scope["path"]
        if path == "/outpost.kith/auth/nginx" and await self._answer_at_once(scope, send):
            return
        if _ENDPOINTS in path:
            await self._serve(scope, receive, send, self._endpoint)
            return
        host = _host_of(scope)
        if self._app is not None and (host == self._own_host or host is None or not await self._is_ours(host)):
            await self._app(scope, receive, send)
            return
        await self._serve(scope, receive, send, self._proxied)

    async def _is_ours(self, host: str) -> bool:
        if not self._gateways.is_fresh:
            await self._gateways.refresh()
        if not self._gateways.is_any_at(host):
            await self._gateways.refresh(SOON_SECONDS)
        return self._gateways.is_any_at(host)

    # The usual yes

    async def _answer_at_once(self, scope: Scope, send: Send) -> bool:
        url = cookie = authorization = b""
        for name, value in reversed(scope["headers"]):  # of several, the first counts
            if name == b"x-original-url":
                url = value
            elif name == b"cookie":
                cookie = value
            elif name == b"authorization":
                authorization = value
        started_at = time.perf_counter()
        gateway = self._gateways.at_origin(url)
        if gateway is None:
            return False
        address = scope["client"][0]
        admitted = self._decisions.kept(
            (gateway.id, address, cookie, authorization if gateway.takes_header_login else b"")
        )
        if admitted.__class__ is not Admitted or scope["method"] != "GET":
            return False
        scope["known"] = True
        await send({"type": "kith.response", "status": 200, "headers": _SHORT, "lines": admitted.lines, "body": b""})
        self._record(f"{getrandbits(128):032x}", "GET", _QUESTION, 200, started_at, admitted.login.user_id, address)
        return True

    # Everything else

    async def _serve(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        respond: Callable[[Exchange, Receive], Awaitable[Answer | None]],
    ) -> None:
        exchange = Exchange(self._server, scope, receive, send)
        exchange.dialect = self._dialect
        IN_FLIGHT.count += 1
        try:
            await self._gateways.refresh()
            if not self._gateways.is_any_at(_host_of(scope) or ""):
                await self._gateways.refresh(SOON_SECONDS)  # it may have been made just now, by another process
            if "refusal" in scope:  # the server has no place for this request
                raise scope["refusal"]
            if scope.get("method") == "HEAD":
                exchange.is_head = True
            answer = await respond(exchange, receive)
            if answer is not None:
                await exchange.answer(answer)
        except ClientGone:
            exchange.status = exchange.status or 499
        except _EXPECTED as problem:
            if exchange.status:
                raise
            await exchange.end_work(commit=False)
            await exchange.answer(self._dialect.shape(problem, exchange))
        except Exception as error:
            if exchange.status:
                raise
            await exchange.fail(error)
        finally:
            IN_FLIGHT.count -= 1
            await exchange.end()
            self._record(
                exchange.id,
                exchange.method,
                scope.get("label", "gateway"),
                exchange.status,
                exchange.started_at,
                exchange.user_id,
                exchange.address,
            )

    async def _endpoint(self, exchange: Exchange, receive: Receive) -> Answer | None:
        if exchange.path.startswith(_ENDPOINTS):
            name = exchange.path.removeprefix(_ENDPOINTS).rstrip("/")
            if name == "ping":
                return self._ping(exchange)
            if name.startswith("auth/"):
                return await self._question(exchange, name)
        for host in (_host_of(exchange.scope), _forwarded_host(exchange)):
            gateway = self._gateways.at(HostPath(host, exchange.path)) if host is not None else None
            if gateway is not None:
                return await self._own(exchange, receive, gateway)
        raise NotFound("There is no such gateway")

    def _ping(self, exchange: Exchange) -> Answer:
        exchange.scope["label"] = "gateway ping"
        return Answer(204, ())

    async def _question(self, exchange: Exchange, name: str) -> Answer:
        kind = name.split("/")[1]
        if kind not in questions.KINDS or (kind != "envoy" and name != f"auth/{kind}"):
            raise NotFound
        exchange.scope["label"] = f"gateway auth/{kind}"
        return await questions.answer_question(exchange, kind)

    async def _own(self, exchange: Exchange, receive: Receive, gateway: Gateway) -> Answer | None:
        asked = questions.original_of(exchange, gateway.scheme)
        name = gateway.endpoint_of(HostPath(gateway.place.host, exchange.path))
        if asked is None or name is None:
            return await self._proxied(exchange, receive)
        if name == "ping":
            return self._ping(exchange)
        if name in questions.ENDPOINTS:
            exchange.scope["label"] = f"gateway {name}"
        return await questions.answer_endpoint(exchange, gateway, name, asked)

    async def _proxied(self, exchange: Exchange, receive: Receive) -> Answer | None:
        host = _host_of(exchange.scope)
        path = exchange.scope["raw_path"].decode("latin-1")
        gateway = self._gateways.at(HostPath(host, path)) if host is not None else None
        asked = questions.original_of(exchange, gateway.scheme) if gateway is not None else None
        if gateway is None or asked is None or not gateway.is_proxy:
            raise NotFound("There is no such gateway")
        exchange.scope["label"] = "gateway proxy"
        if questions.is_logout(asked):
            return await signing_in.sign_out(exchange, gateway)
        admitted, answer = await self._admit(exchange, gateway, asked)
        await exchange.end_work(commit=False)
        if answer is not None:
            return answer
        if exchange.is_socket:
            await sockets.pass_socket_on(exchange, receive, gateway, admitted)
        else:
            await proxy.pass_on(exchange, receive, gateway, admitted)
        return None

    async def _admit(
        self, exchange: Exchange, gateway: Gateway, asked: OriginalURL
    ) -> tuple[Admitted | None, Answer | None]:
        """Who goes on to the application, or what is said to somebody who does not."""
        may_skip = questions.skips(gateway, asked)
        decision = await self._decisions.decide(exchange, gateway, by_header=not may_skip)
        if isinstance(decision, Admitted):
            return decision, None
        if may_skip:
            return None, None
        if isinstance(decision, Refused):
            raise await signing_in.refusal_of(exchange, gateway, decision)
        if exchange.is_socket or not questions.is_navigation(exchange):
            raise Unauthenticated(headers=CHALLENGE if gateway.takes_header_login else None)
        return None, signing_in.to_start(gateway, asked)

    def _record(
        self, id: str, method: str, label: str, status: int, started_at: float, user: int | None, address: str
    ) -> None:
        took = time.perf_counter() - started_at
        method = method if method in _METHODS else "other"
        key = (method, label, status)
        observe = self._observers.get(key)
        if observe is None:
            observe = self._observers[key] = REQUESTS.labels(method, label, str(status)).observe
        observe(took)
        self._access_log.write(id, method, label, status, took, user, address)


def _host_of(scope: Scope) -> str | None:
    for name, value in scope["headers"]:
        if name == b"host":
            return host_key(value.decode("latin-1"), "http" if value.endswith(b":80") else "https")
    return None


def _forwarded_host(exchange: Exchange) -> str | None:
    told = exchange.header(b"x-forwarded-host")
    return host_key(told.decode("latin-1").strip(), "https") if told else None
