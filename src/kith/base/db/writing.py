"""Which session of the task at hand is in a transaction, so that nobody waits for the outside world meanwhile.

On SQLite such a session holds the only pen, on PostgreSQL locks and a connection: one host that does not answer would
stop everybody's writing. Whatever takes long (the guarded client, the hashing of passwords) or needs a transaction of
its own (the limiter) calls `refuse` first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

__all__ = ["Writer", "by_the_way", "enter", "is_writing", "leave", "patience", "refuse"]

BY_THE_WAY_SECONDS = 0.25


class Writer(Protocol):
    @property
    def is_writing(self) -> bool: ...


_is_by_the_way: ContextVar[bool] = ContextVar("is_by_the_way", default=False)
_current: ContextVar[Writer | None] = ContextVar("writing", default=None)


def enter(session: Writer) -> Writer | None:
    """`session` writes from now on; gives back whichever did before, for `leave`."""
    outer = _current.get()
    _current.set(session)
    return outer


def leave(outer: Writer | None) -> None:
    _current.set(outer)


def is_writing() -> bool:
    """A task that was started by one that wrote is told what is so now, not what was then."""
    session = _current.get()
    return session is not None and session.is_writing


def refuse(what: str) -> None:
    """Called by what must not be done in the middle of a transaction: an error of the program, found by any test."""
    if is_writing():
        raise RuntimeError(f"{what} in the middle of a transaction, which must wait for nobody")


@contextmanager
def by_the_way() -> Iterator[None]:
    """What is written in this block is not worth waiting for: whoever only reads is held up by nobody who writes."""
    token = _is_by_the_way.set(True)
    try:
        yield
    finally:
        _is_by_the_way.reset(token)


def patience(usual: float) -> float:
    """How many seconds somebody waits for their turn to write."""
    return min(usual, BY_THE_WAY_SECONDS) if _is_by_the_way.get() else usual
