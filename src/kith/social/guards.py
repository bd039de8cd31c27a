"""Guards for the social API's routes."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from kith.base.edge import exchange_of
from kith.base.limits import Limiter, Rule, address_key

ANONYMOUS = Rule("social-anonymous", most=300, seconds=300)


def anyone(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
    """Open to all, but not without end."""
    exchange = exchange_of(connection)
    exchange.spent = exchange.find(Limiter).spend(ANONYMOUS, address_key(exchange.address))
