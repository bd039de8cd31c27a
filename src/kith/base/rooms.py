"""What a room of the house brings with it: routes, jobs, what is done every so often, who is told what, and parts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.exchange import Dialect
from kith.base.jobs import JobKind, Periodic
from kith.base.news import Fact
from kith.base.routing import Route
from kith.base.work import Work, Works

__all__ = ["Part", "Room"]

AtOnce = Callable[[Work, Any], Awaitable[None]]


class Part(msgspec.Struct, frozen=True):
    """Something of which a server has one: found by `kind`, made when the server starts, closed when it stops.

    Parts are made in the order of the rooms, so that one can be made of those that stand before it.
    """

    kind: type
    make: Callable[[Works], Any]
    also: tuple[type, ...] = ()  # further names under which the same one is found
    close: Callable[[Any], Any] | None = None


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """`dialect` is that of the room's routes, unless a route says otherwise."""

    name: str
    dialect: Dialect | None = None
    routes: tuple[Route, ...] = ()
    jobs: tuple[JobKind[Any], ...] = ()
    periodic: tuple[Periodic, ...] = ()
    subscriptions: tuple[tuple[type[Fact], JobKind[Any]], ...] = ()
    at_once: tuple[tuple[type[Fact], AtOnce], ...] = ()  # done before the commit of what announces the fact
    parts: tuple[Part, ...] = ()

    def spoken_routes(self) -> list[Route]:
        """The room's routes, each with its dialect."""
        return [
            one if one.dialect is not None else msgspec.structs.replace(one, dialect=self.dialect)
            for one in self.routes
        ]
