"""Places for clients of which only so many may be connected, and who has to go when all of them are taken."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Hashable

import msgspec

from kith.base.metrics import PLACES, PLACES_REFUSED

__all__ = ["ClientPlace", "ClientPlaces"]


class ClientPlace(msgspec.Struct, eq=False):
    """The place of one client: who has proved there who they are, and since when the client is waited for.

    `is_busy`: something is done for the client that must not be cut off.
    """

    address: str
    person: int | None = None
    since: float = msgspec.field(default_factory=time.monotonic)
    is_busy: bool = False
    task: asyncio.Task[None] | None = None


class ClientPlaces:
    """`of` is what they are called where operators look."""

    def __init__(self, of: str, most: int, most_per_address: int) -> None:
        self.taken: set[ClientPlace] = set()
        self._most = most
        self._most_per_address = most_per_address
        self._by_address: Counter[str] = Counter()
        self._gauge = PLACES.labels(of, "taken")
        self._refused = PLACES_REFUSED.labels(of)

    def take(self, address: str, *, most_per_address: int | None = None) -> ClientPlace | None:
        """A place for a client at this address, if need be another one's; None if it has to be sent away."""
        most = most_per_address or self._most_per_address
        if self._by_address.get(address, 0) >= most or not self._make_room():
            self._refused.inc()
            return None
        place = ClientPlace(address)
        self.taken.add(place)
        self._by_address[address] += 1
        self._gauge.inc()
        return place

    def leave(self, place: ClientPlace) -> None:
        if place in self.taken:
            self.taken.discard(place)
            self._by_address[place.address] -= 1
            if not self._by_address[place.address]:
                del self._by_address[place.address]
            self._gauge.dec()

    def _make_room(self) -> bool:
        if len(self.taken) < self._most:
            return True
        weakest = self._weakest()
        if weakest is None:
            return False
        self.leave(weakest)
        if weakest.task is not None:
            weakest.task.cancel()
        return True

    def _weakest(self) -> ClientPlace | None:
        """Strangers go before people, and of these whoever has the most places; the one waited for longest."""
        idle = [place for place in self.taken if not place.is_busy]
        strangers = [place for place in idle if place.person is None]
        people = [place for place in idle if place.person is not None]

        def owner(place: ClientPlace) -> Hashable:
            return place.address if place.person is None else place.person

        for group, least in ((strangers, 1), (people, 2)):
            counted = Counter(owner(place) for place in group)
            most = max(counted.values(), default=0)
            if most >= least:
                return min((place for place in group if counted[owner(place)] == most), key=lambda place: place.since)
        return None
