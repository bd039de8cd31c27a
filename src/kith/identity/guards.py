"""Guards for the identity API's routes."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from kith.base.edge import Answer, Exchange, Hot, exchange_of
from kith.identity.callers import Callers


async def administrator(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    exchange = exchange_of(connection)
    await exchange.find(Callers).administrator(exchange)


def for_administrators(hot: Hot) -> Hot:
    """The same guard for an answer that does not pass the framework."""

    async def guarded(exchange: Exchange) -> Answer:
        await exchange.find(Callers).administrator(exchange)
        return await hot(exchange)

    return guarded
