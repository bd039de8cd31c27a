"""What kinds of jobs there are, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from kith.base.work import Work

Payload = TypeVar("Payload", bound=msgspec.Struct)

QUICK = "quick"


class Give(Exception):  # noqa: N818 - `raise Give.up("...")` is an order, not an error
    """Raised by a handler that knows better than the backoff: try `later`, or not at all."""

    def __init__(self, why: str, *, later: timedelta | None = None) -> None:
        super().__init__(why)
        self.later = later

    @classmethod
    def up(cls, why: str) -> Give:
        return cls(why)


class Kind(msgspec.Struct, Generic[Payload], frozen=True, kw_only=True):
    """One kind of job.

    `handler` gets a `Work` of its own making: what it writes and the end of the job are one transaction, so
    its effect happens once although it may be started twice. A kind that talks to the outside world says
    `outside=True`: it runs alone, at most `concurrency` at a time in a process, and must not write before
    it has finished talking. All others run together, quickly, one after the other.
    """

    name: str
    payload: type[Payload]
    handler: Callable[[Work, Payload], Awaitable[None]]
    outside: bool = False
    concurrency: int = 8
    attempts: int = 12
    patience: timedelta = timedelta(minutes=5)

    @property
    def lane(self) -> str:
        return self.name if self.outside else QUICK


class Periodic(msgspec.Struct, frozen=True, kw_only=True):
    """A job that is made anew every so often, once for all the workers there are."""

    kind: Kind[Any]
    every: timedelta
    payload: msgspec.Struct
