"""Who may be connected to the LDAP server at once, and who has to go when all places are taken."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Hashable

import msgspec

from kith.base.metrics import PLACES, PLACES_REFUSED

__all__ = ["LdapPlace", "LdapPlaces"]

MOST = 1000
MOST_PER_ADDRESS = 200


class LdapPlace(msgspec.Struct, eq=False):
    """The place of one client: who has bound there, and since when nothing has been done for the client."""

    address: str
    person: int | None = None
    idle_since: float | None = msgspec.field(default_factory=time.monotonic)
    task: asyncio.Task[None] | None = None


class LdapPlaces:
    def __init__(self, most: int = MOST, most_per_address: int = MOST_PER_ADDRESS) -> None:
        self.taken: set[LdapPlace] = set()
        self._most = most
        self._most_per_address = most_per_address
        self._by_address: Counter[str] = Counter()
        self._gauge = PLACES.labels("ldap", "taken")
        self._refused = PLACES_REFUSED.labels("ldap")

    def take(self, address: str) -> LdapPlace | None:
        """A place for a client at this address, if need be another one's; None if it has to be sent away."""
        if self._by_address[address] >= self._most_per_address or not self._make_room():
            self._refused.inc()
            return None
        place = LdapPlace(address)
        self.taken.add(place)
        self._by_address[address] += 1
        self._gauge.inc()
        return place

    def leave(self, place: LdapPlace) -> None:
        if place in self.taken:
            self.taken.discard(place)
            self._by_address -= Counter([place.address])  # and an address without places is forgotten
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

    def _weakest(self) -> LdapPlace | None:
        """Strangers go before people, and of these whoever has the most places; the one that has been idle for longest.

        Nobody goes while something is done for them, or while their password is checked.
        """
        strangers = [place for place in self.taken if place.person is None and place.idle_since is not None]
        people = [place for place in self.taken if place.person is not None and place.idle_since is not None]

        def owner(place: LdapPlace) -> Hashable:
            return place.address if place.person is None else place.person

        for idle in (strangers, people):
            counted = Counter(owner(place) for place in idle)
            most = max(counted.values(), default=0)
            if idle is strangers or most > 1:
                among = [place for place in idle if counted[owner(place)] == most]
                if among:
                    return min(among, key=lambda place: place.idle_since or 0.0)
        return None
