"""Places: how much is done at once of what is slow or dear, for everybody and for each owner.

One who is slow, a host or a caller, can take no more places than an owner may have, so the others are left to everybody
else. Who waits when all are taken goes in an order of its own: first whoever has the fewest places, then whoever was
served longest ago, then whoever came first. So a newcomer goes before the hundredth request of somebody else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from types import MappingProxyType
from weakref import WeakSet

import msgspec

__all__ = ["Full", "Places", "TakenPlace", "every_pool", "is_full", "take_figures"]

WAIT_SECONDS = 3.0
WAITING_EACH = 16  # times as many as an owner may have places may wait for one
_all: WeakSet[Places] = WeakSet()

Owner = tuple[str, str]  # of which kind, and which one


class Full(Exception):  # noqa: N818 - not an error: it is tried later
    """No place has become free in time. Nobody but this server is to blame for it."""


def is_full(error: BaseException | None) -> bool:
    """Whether something failed because there was no place, however often that was said in other words since."""
    while error is not None and not isinstance(error, Full):
        error = error.__cause__
    return error is not None


class _Waiting(msgspec.Struct, eq=False):
    owners: tuple[Owner, ...]
    is_stranger: bool
    number: int
    turn: asyncio.Future[None]


class TakenPlace:
    """One place, until it is given back."""

    __slots__ = ("_is_stranger", "_owners", "_places")

    def __init__(self, places: Places, owners: tuple[Owner, ...], *, is_stranger: bool) -> None:
        self._places: Places | None = places
        self._owners, self._is_stranger = owners, is_stranger

    def give_back(self) -> None:
        """Once; whoever does it again does no harm."""
        places, self._places = self._places, None
        if places is not None:
            places.leave(self._owners, is_stranger=self._is_stranger)


class Places:
    """`most` in all; `each`: how many one owner of each kind may have; `strangers`: all strangers together."""

    def __init__(
        self,
        name: str,
        *,
        most: int,
        each: Mapping[str, int] = MappingProxyType({}),
        strangers: int | None = None,
    ) -> None:
        self.name = name
        self._most, self._each = most, dict(each)
        self._strangers = most if strangers is None else strangers
        self._taken = self._taken_by_strangers = 0
        self._of: Counter[Owner] = Counter()
        self._served: dict[Owner, int] = {}  # of those who have or want a place: when they last got one
        self._wanted: Counter[Owner] = Counter()
        self._waiting: list[_Waiting] = []
        self._numbers = count(1)
        self.refused = 0
        _all.add(self)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of owners who have a bound of their own here."""
        return tuple(self._each)

    @property
    def is_single(self) -> bool:
        """Whether there is one place for everybody, which the owners have in turns."""
        return self._most == 1

    @property
    def taken(self) -> int:
        return self._taken

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def take(
        self, *, seconds: float = WAIT_SECONDS, is_stranger: bool = False, **owners: str | None
    ) -> AsyncIterator[None]:
        """One place for as long as the block takes. Raises `Full` after waiting for `seconds`."""
        place = await self.enter(seconds=seconds, is_stranger=is_stranger, **owners)
        try:
            yield
        finally:
            place.give_back()

    async def enter(
        self, *, seconds: float = WAIT_SECONDS, is_stranger: bool = False, **owners: str | None
    ) -> TakenPlace:
        """Like `take`, for what ends elsewhere. An owner who is None has no part in it."""
        named = tuple((kind, name) for kind, name in owners.items() if name is not None)
        if self._may(named, is_stranger=is_stranger):  # then nobody waits who could go before
            self._seat(named, is_stranger=is_stranger)
        else:
            await self._wait(named, seconds, is_stranger=is_stranger)
        return TakenPlace(self, named, is_stranger=is_stranger)

    def leave(self, owners: tuple[Owner, ...], *, is_stranger: bool) -> None:
        self._taken -= 1
        self._taken_by_strangers -= is_stranger
        for owner in owners:
            self._of[owner] -= 1
            self._forget(owner)
        self._go_on()

    # Whose turn it is

    def _may(self, owners: tuple[Owner, ...], *, is_stranger: bool) -> bool:
        if self._taken >= self._most or (is_stranger and self._taken_by_strangers >= self._strangers):
            return False
        return all(self._of[owner] < self._each[owner[0]] for owner in owners)

    def _seat(self, owners: tuple[Owner, ...], *, is_stranger: bool) -> None:
        self._taken += 1
        self._taken_by_strangers += is_stranger
        for owner in owners:
            self._of[owner] += 1
            self._served[owner] = next(self._numbers)

    def _go_on(self) -> None:
        while self._waiting and self._taken < self._most:
            able = [
                one
                for one in self._waiting
                if not one.turn.done() and self._may(one.owners, is_stranger=one.is_stranger)
            ]
            if not able:
                return
            first = min(able, key=self._rank)
            self._stop_waiting(first)
            self._seat(first.owners, is_stranger=first.is_stranger)
            first.turn.set_result(None)

    def _rank(self, one: _Waiting) -> tuple[float, int, int]:
        shares = [self._of[owner] / self._each[owner[0]] for owner in one.owners]
        served = [self._served.get(owner, 0) for owner in one.owners]
        return max(shares, default=0.0), max(served, default=0), one.number

    # Waiting for it

    async def _wait(self, owners: tuple[Owner, ...], seconds: float, *, is_stranger: bool) -> None:
        crowded = any(self._wanted[owner] >= WAITING_EACH * self._each[owner[0]] for owner in owners)
        if seconds <= 0 or crowded or len(self._waiting) >= WAITING_EACH * self._most:
            raise self._refusal()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        one = _Waiting(owners, is_stranger, next(self._numbers), turn)
        self._waiting.append(one)
        self._wanted.update(owners)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # it came in the same moment
                self.leave(owners, is_stranger=is_stranger)
            else:
                self._stop_waiting(one)
            if isinstance(error, TimeoutError):
                raise self._refusal() from error
            raise

    def _stop_waiting(self, one: _Waiting) -> None:
        self._waiting.remove(one)
        for owner in one.owners:
            self._wanted[owner] -= 1
            self._forget(owner)

    def _refusal(self) -> Full:
        self.refused += 1
        return Full(f"no place of {self.name} has become free")

    def _forget(self, owner: Owner) -> None:
        """Nothing is remembered of those who neither have nor want a place."""
        if self._of[owner] <= 0:
            del self._of[owner]
        if self._wanted[owner] <= 0:
            del self._wanted[owner]
        if owner not in self._of and owner not in self._wanted:
            self._served.pop(owner, None)


def every_pool() -> list[Places]:
    """All there are in this process."""
    return list(_all)


def take_figures() -> dict[str, tuple[int, int, int]]:
    """Of each name: how many places are taken, how many wait for one, and who was refused one since the last time."""
    found: dict[str, tuple[int, int, int]] = {}
    for places in every_pool():
        taken, waiting, refused = found.get(places.name, (0, 0, 0))
        found[places.name] = taken + places.taken, waiting + places.waiting, refused + places.refused
        places.refused = 0
    return found
