"""What kinds of jobs there are, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

import msgspec

if TYPE_CHECKING:
    from kith.base.work import Work


class _MakesRoom(TypedDict):
    long_after: timedelta
    most: int


Payload = TypeVar("Payload", bound=msgspec.Struct)

QUICK = "quick"
# For kinds that ask hosts which anybody may name: who does not answer gives its place to the next after a moment.
MAKES_ROOM: _MakesRoom = {"long_after": timedelta(seconds=1), "most": 48}


class Give(Exception):  # noqa: N818 - `raise Give.up("...")` is an order, not an error
    """Raised by a handler that knows better than the backoff: try `later`, or not at all."""

    def __init__(self, why: str, *, later: timedelta | None = None) -> None:
        super().__init__(why)
        self.later = later

    @classmethod
    def up(cls, why: str) -> Give:
        return cls(why)


class JobKind(msgspec.Struct, Generic[Payload], frozen=True, kw_only=True):
    """One kind of job, done in one of three ways.

    `handler` does one job, `many` all that a batch holds of its kind, wherever they stand in it; a kind with `parts`
    is done as each of them is, one after the other. They get a `Work` of the worker's making: what is written and the
    end of the jobs are one transaction, so the effect happens once although it may be started twice.

    A kind that talks to the outside world says `outside=True`: it runs alone, at most `concurrency` at a time in a
    process, and must not write before it has finished talking. All others run together, quickly, one after the other:
    with all that share `together_in`, so that what strangers set off can have a lane of its own.

    Of the outside ones, a job that runs for longer than `long_after` leaves its place to another one, up to `most` of
    them in all; `places_each` of them for one owner. `is_harmless`: nothing in it could end the process, so when that
    dies its jobs are not suspected.

    `is_secret`: whoever reads its payload could enter with it, so it is sealed while it is kept.
    """

    name: str
    payload: type[Payload]
    handler: Callable[[Work, Payload], Awaitable[None]] | None = None
    many: Callable[[Work, Sequence[Payload]], Awaitable[None]] | None = None
    parts: tuple[JobKind[Payload], ...] = ()
    outside: bool = False
    together_in: str = QUICK
    concurrency: int = 8
    long_after: timedelta | None = None
    most: int = 0
    is_harmless: bool = False
    is_secret: bool = False
    attempts: int = 12
    patience: timedelta = timedelta(minutes=5)

    @property
    def lane(self) -> str:
        return self.name if self.outside else self.together_in

    @property
    def is_joint(self) -> bool:
        """Whether the jobs of a batch are done at once."""
        return self.many is not None or bool(self.parts)

    def free_places(self, running_for: Collection[float]) -> int:
        """How many more may be started, by how many seconds each of the others has been running."""
        if self.long_after is None:
            return self.concurrency - len(running_for)
        long_after = self.long_after.total_seconds()
        young = sum(1 for seconds in running_for if seconds < long_after)
        return min(self.concurrency - young, max(self.most, self.concurrency) - len(running_for))

    @property
    def places_each(self) -> int:
        """How many jobs of one owner may run at once: of those that make room more than one slow host can hold."""
        if self.long_after is None:
            return max(1, self.concurrency * 3 // 4)
        return max(self.concurrency, self.most // 4)

    async def do(self, work: Work, payloads: Sequence[Payload]) -> None:
        for part in self.parts:
            await part.do(work, payloads)
        if self.many is not None:
            await self.many(work, payloads)
        if self.handler is not None:
            for payload in payloads:
                await self.handler(work, payload)


class Periodic(msgspec.Struct, frozen=True, kw_only=True):
    """A job that is made anew every so often, once for all the workers there are."""

    kind: JobKind[Any]
    every: timedelta
    payload: msgspec.Struct
