"""Guards for the identity API's routes."""

from __future__ import annotations

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from kith.identity.callers import Callers


async def administrator(connection: ASGIConnection, _handler: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    callers: Callers = connection.app.state["callers"]
    await callers.administrator(connection.scope["kith"])  # type: ignore[typeddict-item]
