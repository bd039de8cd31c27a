"""One declaration per route: method, path template, guard, dialect, handler, and what shape its answer has."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec

from kith.base.exchange import Answer, Dialect, Exchange
from kith.base.routing.parameters import Parameter, parameters_of

__all__ = [
    "AnswerShape",
    "Guard",
    "MayLag",
    "Route",
    "delete",
    "get",
    "patch",
    "post",
    "put",
    "route",
    "socket",
    "stream",
]

Guard = Callable[[Exchange], Awaitable[None]]
Handler = Callable[..., Awaitable[Any]]
Decorate = Callable[[Handler], "Route"]


class AnswerShape(Enum):
    """Whether a route gives one whole answer, speaks for as long as it is listened to, or is a WebSocket."""

    ANSWER = "answer"
    STREAM = "stream"
    SOCKET = "socket"


class MayLag(Enum):
    """Whose answers may be some seconds old. Strangers cannot miss what they have just done themselves."""

    NOBODY = 0
    STRANGERS = 1
    EVERYBODY = 2

    def includes(self, user_id: int | None) -> bool:
        return self is MayLag.EVERYBODY or (self is MayLag.STRANGERS and user_id is None)


class Route(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """`dialect` is None until the room that holds the route fills in its own."""

    methods: tuple[str, ...]
    template: str
    handler: Handler
    guards: tuple[Guard, ...] = ()
    dialect: Dialect | None = None
    shape: AnswerShape = AnswerShape.ANSWER
    status: int = 200
    aliases: tuple[str, ...] = ()  # further templates with the same gaps
    parameters: tuple[Parameter, ...] = ()
    may_lag: MayLag = MayLag.NOBODY
    is_for_entering: bool = False  # part of signing in or out, for which there is room on a full disk too
    summary: str = ""
    description: dict[str, Any] | None = None  # what OpenAPI says of it beyond what can be derived

    async def respond(self, exchange: Exchange) -> Answer | None:
        """Let the caller in, read what the handler takes, and give its answer.

        None: the handler has spoken for itself (a stream, a socket).
        """
        for guard in self.guards:
            await guard(exchange)
        if self.may_lag is not MayLag.NOBODY and not exchange.is_part and self.may_lag.includes(exchange.user_id):
            exchange.work.db.let_lag()
        given = await self._given(exchange)
        if exchange.has_waited:  # whoever draws out what they send may have lost meanwhile what the guards saw
            for guard in self.guards:
                await guard(exchange)
            given = await self._given(exchange)
        result = await self.handler(**given)
        if result.__class__ is Answer or self.shape is not AnswerShape.ANSWER:
            return result  # type: ignore[no-any-return]
        return exchange.dialect.encode(exchange, self.status, result)

    async def _given(self, exchange: Exchange) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, read, is_async, _place, _kind in self.parameters:
            given[name] = await read(exchange) if is_async else read(exchange)
        return given


def for_entering(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Routes that are part of signing in or out."""
    return tuple(msgspec.structs.replace(one, is_for_entering=True) for one in routes)


def route(
    methods: str | tuple[str, ...],
    template: str,
    *,
    guards: Sequence[Guard] = (),
    dialect: Dialect | None = None,
    shape: AnswerShape = AnswerShape.ANSWER,
    status: int = 200,
    aliases: tuple[str, ...] = (),
    may_lag: MayLag = MayLag.NOBODY,
    description: dict[str, Any] | None = None,
) -> Decorate:
    """A decorator that makes a handler a route."""

    def declare(handler: Handler) -> Route:
        return Route(
            methods=(methods,) if isinstance(methods, str) else methods,
            template=template,
            handler=handler,
            guards=tuple(guards),
            dialect=dialect,
            shape=shape,
            status=status,
            aliases=aliases,
            parameters=parameters_of(handler, template),
            may_lag=may_lag,
            summary=(inspect.getdoc(handler) or "").partition("\n")[0],
            description=description,
        )

    return declare


def _for_method(method: str) -> Callable[..., Decorate]:
    def declare(template: str, **options: Any) -> Decorate:
        return route(method, template, **options)

    return declare


get, post, put, patch, delete = map(_for_method, ("GET", "POST", "PUT", "PATCH", "DELETE"))


def stream(template: str, **options: Any) -> Decorate:
    """A GET that is answered piece by piece, for as long as somebody listens."""
    return route("GET", template, shape=AnswerShape.STREAM, **options)


def socket(template: str, **options: Any) -> Decorate:
    return route("WEBSOCKET", template, shape=AnswerShape.SOCKET, **options)
