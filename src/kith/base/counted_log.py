"""Log lines for what others cause: at most one in a minute for each kind, with how many it stands for.

Whoever sends a packet, a request or a post must not be able to fill the disk with lines about it. The first of a kind
is written at once, with all that is known of it; those that follow are counted, and a minute later one line tells how
many they were, with what is known of the last. A stack is written with the first of its minute alone.

    log_counted("info", "radius.ignored", reason, address=address)
    log_counted("error", "request.failed", error=error, request=id)

What tells kinds apart (`reason`, where an error was raised) is ours to choose, never a stranger's words.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

import msgspec

from kith.base.logger import Logger

__all__ = ["log_counted", "take_counts", "tell_rest"]

SECONDS = 60.0
MOST_KINDS = 500  # and all further ones are one

_log = Logger()


class _Kind(msgspec.Struct):
    level: str
    event: str
    told_at: float
    count: int = 0
    last: dict[str, Any] = {}


_Key = tuple[str, ...]
_kinds: dict[_Key, _Kind] = {}
_counts: Counter[str] = Counter()


def log_counted(level: str, event: str, *by: str, error: BaseException | None = None, **details: Any) -> None:
    """Write a line, or count it. Two of the same `event` are of one kind if they agree in `by` and in the error."""
    _counts[event] += 1
    now, key = time.monotonic(), (event, *by, *_place_of(error))
    known = _kinds.get(key)
    if known is None:
        if len(_kinds) >= MOST_KINDS:
            _forget_quiet(now)
        if len(_kinds) >= MOST_KINDS:
            key = (event, "other")
        known = _kinds.setdefault(key, _Kind(level, event, now - SECONDS))
    known.count += 1
    known.last = details
    if now - known.told_at >= SECONDS:
        _tell(known, now, error)
    elif known.count == 1:
        _tell_later(known, known.told_at + SECONDS - now)


def tell_rest() -> None:
    """What was counted and not told yet: the process ends."""
    for known in _kinds.values():
        if known.count:
            _tell(known, time.monotonic(), None)


def take_counts() -> Counter[str]:
    """How many there were of each event since the last time."""
    taken = _counts.copy()
    _counts.clear()
    return taken


def _tell(known: _Kind, now: float, error: BaseException | None) -> None:
    details, stack = known.last, {} if error is None else {"exc_info": error}
    count, known.count, known.told_at, known.last = known.count, 0, now, {}
    getattr(_log, known.level)(known.event, **details, count=count, **stack)


def _tell_later(known: _Kind, seconds: float) -> None:
    """Outside of an event loop it is told with the next of its kind."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    loop.call_later(seconds, lambda: _tell(known, time.monotonic(), None) if known.count else None)


def _forget_quiet(now: float) -> None:
    for key in [key for key, one in _kinds.items() if not one.count and now - one.told_at >= SECONDS]:
        del _kinds[key]


def _place_of(error: BaseException | None) -> _Key:
    """What an error is and where it was raised; with another cause it is another."""
    if error is None:
        return ()
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
    return type(error).__name__, place, *_place_of(error.__cause__)
