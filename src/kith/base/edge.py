"""The edge of the server: every request, stream and socket comes in here, gets an exchange, and leaves a log line."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from kith.base import asking, traces
from kith.base.errors import Forbidden, MethodNotAllowed, NotFound, TooLarge
from kith.base.exchange import Answer, Dialect, Exchange, Receive, Scope, Send, Server
from kith.base.exchange.answers import PREFLIGHT
from kith.base.log import AccessLog
from kith.base.metrics import IN_FLIGHT, REQUESTS
from kith.base.routing.router import Router, WrongMethod

__all__ = ["Edge"]

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Edge:
    """The ASGI application. `dialect_of` says how to refuse a path that no route has."""

    def __init__(
        self,
        server: Server,
        router: Router,
        *,
        dialect_of: Callable[[str], Dialect],
        access_log: AccessLog,
        turns_away: Callable[[str], Awaitable[bool]] | None = None,
    ) -> None:
        self._server = server
        self._router = router
        self._dialect_of = dialect_of
        self._access_log = access_log
        self._turns_away = turns_away  # whether nobody from this address gets anything
        self._observers: dict[tuple[str, str, int], Callable[[float], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return None
        exchange = Exchange(self._server, scope, receive, send)
        asking.answer_for(exchange)
        if exchange.method == "HEAD":
            exchange.method, exchange.is_head = "GET", True
        if not traces.is_on():
            return await self._run(exchange)
        with traces.request(exchange.header(b"traceparent"), exchange.id) as span:
            await self._run(exchange)
            if span is not None:
                _describe(span, exchange)
        return None

    async def _run(self, exchange: Exchange) -> None:
        allowed = self._find(exchange)
        IN_FLIGHT.count += 1
        try:
            answer = await self._respond(exchange, allowed)
            if answer is not None:
                await exchange.answer(answer)
        except Exception as error:
            if exchange.status:
                raise
            await exchange.fail(error)
        finally:
            IN_FLIGHT.count -= 1
            await exchange.end()
            self._record(exchange)

    def _find(self, exchange: Exchange) -> list[str]:
        """The exchange learns its route and its dialect. The methods of a path that has none of this name."""
        try:
            found = self._router.find(exchange.method, exchange.path)
        except WrongMethod as wrong:
            exchange.dialect = wrong.route.dialect or self._dialect_of(exchange.path)
            return wrong.allowed
        if found is not None:
            exchange.route, exchange.path_values = found
        dialect = exchange.route.dialect if exchange.route is not None else None
        exchange.dialect = dialect or self._dialect_of(exchange.path)
        return []

    async def _respond(self, exchange: Exchange, allowed: list[str]) -> Answer | None:
        if "refusal" in exchange.scope:  # the server has no place for this request
            raise exchange.scope["refusal"]
        if self._turns_away is not None and await self._turns_away(exchange.address):
            raise Forbidden
        if exchange.method not in METHODS and exchange.scope["type"] == "http":
            raise MethodNotAllowed(
                f'Method "{exchange.method[:20]}" not allowed.', headers={"Allow": ", ".join(sorted(METHODS))}
            )
        if exchange.route is None:
            await _enter(exchange)
            if allowed:
                return _other_method(exchange, allowed)
            raise NotFound
        if exchange.has_body:
            length = exchange.header(b"content-length")
            if length.isdigit() and int(length) > self._server.max_body:
                raise TooLarge
            if exchange.dialect.fold is not None and exchange.method == "GET":
                await exchange.dialect.fold(exchange)
        if exchange.dialect.enter is not None:
            await exchange.dialect.enter(exchange)
        return await exchange.route.respond(exchange)

    def _record(self, exchange: Exchange) -> None:
        took = time.perf_counter() - exchange.started_at
        route = exchange.route.template if exchange.route is not None else "unknown"
        method = exchange.method if exchange.method in METHODS or exchange.scope["type"] != "http" else "other"
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


def _describe(span: traces.Span, exchange: Exchange) -> None:
    route = exchange.route.template if exchange.route is not None else "unknown"
    span.name = f"{exchange.method} {route}"
    span.failed = exchange.status >= 500
    span.facts |= {
        "http.request.method": exchange.method,
        "http.route": route,
        "http.response.status_code": exchange.status,
    }


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


async def _enter(exchange: Exchange) -> None:
    """What comes first in a dialect, before a refusal too: it may say who is refused."""
    if exchange.dialect.enter is not None:
        await exchange.dialect.enter(exchange)
