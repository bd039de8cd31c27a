"""What a room of the house brings with it."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Dialect
from kith.base.jobs import Kind, Periodic
from kith.base.news import Fact
from kith.base.routing.route import Route

__all__ = ["Room"]


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """`subscriptions` says which jobs follow from which facts, whoever announces them."""

    name: str
    dialect: Dialect | None = None
    routes: tuple[Route, ...] = ()
    jobs: tuple[Kind[Any], ...] = ()
    periodic: tuple[Periodic, ...] = ()
    subscriptions: tuple[tuple[type[Fact], Kind[Any]], ...] = ()
    parts: tuple[Any, ...] = ()

    def own_routes(self) -> list[Route]:
        """Each in the room's dialect, unless it says otherwise."""
        return [
            one if one.dialect is not None else msgspec.structs.replace(one, dialect=self.dialect)
            for one in self.routes
        ]
