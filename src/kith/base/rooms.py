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

_UPDATES = frozenset({"PUT", "PATCH"})
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
        return [self._spoken(one) for one in self.routes]

    def _spoken(self, route: Route) -> Route:
        dialect = route.dialect or self.dialect
        methods = route.methods
        if dialect is not None and dialect.updates_alike and not _UPDATES.isdisjoint(methods):
            methods = (*methods, *sorted(_UPDATES.difference(methods)))
        return msgspec.structs.replace(route, dialect=dialect, methods=methods)
