"""Traces for OpenTelemetry, where `KITH_OTLP` says to whom they are sent. Without it nothing here costs anything.

A span is a request, a job or a call to another server; statements are counted and timed in the span they were run for.
The context is W3C's `traceparent`: taken from whoever calls, kept with jobs, and passed on to services that the
operator has named as their own (`KITH_PRIVATE_HOSTS`), not to strangers. base/trace_export sends them (OTLP/HTTP).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from random import getrandbits
from typing import Any

import msgspec

__all__ = ["Span", "begin", "carried", "is_on", "job", "note_statement", "outgoing", "request", "request_of", "use"]

SERVER, CLIENT, CONSUMER = 2, 3, 5  # kinds of spans, by OTLP's numbers
MOST_KEPT = 4096  # spans that wait to be sent; what comes when there are more is lost, and counted
_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")


class Span(msgspec.Struct):
    """Times are nanoseconds since 1970."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    began: int
    ended: int = 0
    failed: bool = False
    facts: dict[str, str | int | float] = {}
    statements: int = 0
    statement_seconds: float = 0.0

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace}-{self.id}-01"


class Recorder:
    """Spans that have ended, until they are sent."""

    def __init__(self) -> None:
        self.ended: list[Span] = []
        self.lost = 0

    def take(self) -> list[Span]:
        taken, self.ended = self.ended, []
        return taken

    def end(self, span: Span) -> None:
        span.ended = time.time_ns()
        if len(self.ended) < MOST_KEPT:
            self.ended.append(span)
        else:
            self.lost += 1


_recorder: Recorder | None = None
_current: ContextVar[Span | None] = ContextVar("span", default=None)


def use(recorder: Recorder | None) -> None:
    """From now on spans go there; None: there are none."""
    global _recorder  # noqa: PLW0603 - one for the process, as its log is
    _recorder = recorder


def is_on() -> bool:
    return _recorder is not None


def begin(name: str, kind: int, parent: str = "") -> Span:
    """`parent` is a traceparent; one that is none begins a trace."""
    found = _PARENT.fullmatch(parent)
    known = found is not None and found[1] != "0" * 32 and found[2] != "0" * 16
    trace, above = (found[1], found[2]) if found is not None and known else (f"{getrandbits(128) | 1:032x}", "")
    return Span(name, kind, trace, f"{getrandbits(64) | 1:016x}", above, time.time_ns(), facts={})


@contextmanager
def _lasting(span: Span) -> Iterator[Span]:
    recorder = _recorder
    token = _current.set(span)
    try:
        yield span
    except BaseException:
        span.failed = True
        raise
    finally:
        _current.reset(token)
        if recorder is not None:
            recorder.end(span)


def request(parent: bytes, id: str) -> AbstractContextManager[Span | None]:
    if _recorder is None:
        return _NOTHING
    span = begin("request", SERVER, parent.decode("latin-1")[:100])
    span.facts["kith.request_id"] = id
    return _lasting(span)


def job(kind: str, requests: list[str], count: int) -> AbstractContextManager[Span | None]:
    """Below the request that led to it; jobs of several requests that are done at once are a trace of their own."""
    if _recorder is None:
        return _NOTHING
    span = begin(f"job {kind}", CONSUMER, requests[0].partition(" ")[2] if len(requests) == 1 else "")
    span.facts |= {"kith.job.kind": kind, "kith.job.count": count}
    if len(requests) == 1:
        span.facts["kith.request_id"] = request_of(requests[0])
    return _lasting(span)


def outgoing(method: str, host: str) -> AbstractContextManager[Span | None]:
    if _recorder is None:
        return _NOTHING
    above = _current.get()
    span = begin(f"{method} {host}", CLIENT, above.traceparent if above is not None else "")
    span.facts |= {"http.request.method": method, "server.address": host}
    return _lasting(span)


def note_statement(seconds: float) -> None:
    span = _current.get()
    if span is not None:
        span.statements += 1
        span.statement_seconds += seconds


def carried(request_id: str) -> str:
    """What a job keeps of the request that led to it; `request_of` gives the id back."""
    if _recorder is None:
        return request_id
    span = _current.get()
    return f"{request_id} {span.traceparent}" if span is not None else request_id


def request_of(carried: str) -> str:
    return carried.partition(" ")[0]


_NOTHING: AbstractContextManager[Any] = nullcontext()
