"""Which session of the task at hand is in a transaction, so that nobody waits for the outside world meanwhile.

On SQLite such a session holds the only pen, on PostgreSQL locks and a connection: one host that does not answer would
stop everybody's writing. The guarded client asks `is_writing` before every call.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

__all__ = ["Writer", "enter", "is_writing", "leave"]


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
