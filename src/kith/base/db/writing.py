"""Which session of the task at hand is in a transaction, so that nobody waits for the outside world meanwhile.

On SQLite such a session holds the only pen, on PostgreSQL locks and a connection: one host that does not answer would
stop everybody's writing. Whatever takes long (the guarded client, the hashing of passwords) or needs a transaction of
its own (the limiter) calls `refuse` first.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

__all__ = ["Writer", "enter", "is_writing", "leave", "refuse"]


class Writer(Protocol):
    @property
    def is_writing(self) -> bool: ...


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
