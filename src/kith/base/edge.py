"""The edge of the server: every request, stream and socket comes in here, gets an exchange, and leaves a log line."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from kith.base.errors import MethodNotAllowed, NotFound, TooLarge
from kith.base.exchange import PREFLIGHT, Answer, Dialect, Exchange, Receive, Scope, Send, Server, header
from kith.base.log import AccessLog
from kith.base.metrics import IN_FLIGHT, REQUESTS
from kith.base.routing.router import Router, WrongMethod

__all__ = ["Edge"]

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})


class Edge:
    """The ASGI application. `dialect_of` says how to refuse a path that no route has."""

    def __init__(
        self,
        server: Server,
        router: Router,
        *,
        dialect_of: Callable[[str], Dialect],
        access_log: AccessLog,
        trusted_proxies: tuple[str, ...] = (),
    ) -> None:
        self._server = server
        self._router = router
        self._dialect_of = dialect_of
        self._access_log = access_log
        self._proxies: tuple[IPv4Network | IPv6Network, ...] = tuple(
            ip_network(text, strict=False) for text in trusted_proxies
        )
        self._observers: dict[tuple[str, str, int], Callable[[float], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        path = scope["path"]
        exchange = Exchange(self._server, self._dialect_of(path), scope, receive, send, self.client_address(scope))
        if exchange.method == "HEAD":
            exchange.method, exchange.is_head = "GET", True
        IN_FLIGHT.inc()
        try:
            answer = await self._respond(exchange)
            if answer is not None:
                await exchange.answer(answer)
        except Exception as error:
            if exchange.status:
                raise
            await exchange.fail(error)
        finally:
            IN_FLIGHT.dec()
            await exchange.end()
            self._record(exchange)

    async def _respond(self, exchange: Exchange) -> Answer | None:
        try:
            found = self._router.find(exchange.method, exchange.path)
        except WrongMethod as wrong:
            exchange.dialect = wrong.route.dialect or exchange.dialect
            return _other_method(exchange, wrong.allowed)
        if found is None:
            raise NotFound
        exchange.route, exchange.path_values = found
        if exchange.route.dialect is not None:
            exchange.dialect = exchange.route.dialect
        length = exchange.header(b"content-length")
        if length.isdigit() and int(length) > self._server.max_body:
            raise TooLarge
        if exchange.dialect.enter is not None:
            await exchange.dialect.enter(exchange)
        return await exchange.route.respond(exchange)

    def _record(self, exchange: Exchange) -> None:
        took = time.perf_counter() - exchange.started_at
        route = exchange.route.template if exchange.route is not None else "unknown"
        method = exchange.method if exchange.method in METHODS else "other"
        key = (method, route, exchange.status)
        observe = self._observers.get(key)
        if observe is None:
            observe = self._observers[key] = REQUESTS.labels(method, route, str(exchange.status)).observe
        observe(took)
        self._access_log.write(
            exchange.id,
            "HEAD" if exchange.is_head else method,
            route,
            exchange.status,
            took,
            exchange.user_id,
            exchange.address,
        )

    def client_address(self, scope: Scope) -> str:
        """Who is calling: the peer, or, behind trusted proxies, the nearest address that is not one of them."""
        client = scope.get("client")
        address = client[0] if client else ""
        if not self._proxies or not self._is_proxy(address):
            return address
        forwarded = header(scope, b"x-forwarded-for").decode("latin-1").split(",")
        for part in reversed([text.strip() for text in forwarded]):
            if not part:
                break
            address = part
            if not self._is_proxy(part):
                break
        try:
            return str(ip_address(address))
        except ValueError:
            return client[0] if client else ""

    def _is_proxy(self, text: str) -> bool:
        try:
            address = ip_address(text)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)


def _other_method(exchange: Exchange, allowed: list[str]) -> Answer:
    """OPTIONS is answered everywhere; any other method that a path does not have is refused."""
    if exchange.method != "OPTIONS":
        words = ", ".join(allowed)
        raise MethodNotAllowed(f'Method "{exchange.method[:20]}" not allowed.', headers={"Allow": words})
    dialect = exchange.dialect
    if dialect.preflight is not None:
        return dialect.preflight(exchange, allowed)
    if dialect.cors and exchange.header(b"origin"):
        return Answer(200, PREFLIGHT)
    return Answer(204, ((b"allow", ", ".join(allowed).encode()),))
