"""Structured logs: JSON for machines, plain lines on a terminal. Never a token, never a body."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
import structlog

from kith.base.settings import Settings

__all__ = ["AccessLog", "configure"]

_encode = msgspec.json.Encoder(enc_hook=str).encode
FLUSH_SECONDS = 0.05


def _wants_json(settings: Settings, stream: TextIO) -> bool:
    return settings.log_format == "json" or (settings.log_format == "auto" and not stream.isatty())


class _Lossy:
    """A stream that loses what cannot be written (on a full disk, say): nobody is refused for want of a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def configure(settings: Settings, stream: TextIO = sys.stderr) -> AccessLog:
    level = getattr(logging, settings.log_level.upper())
    as_json = _wants_json(settings, stream)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        shared += [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=lambda entry, **_: _encode(entry).decode()),
        ]
    else:
        shared.append(structlog.dev.ConsoleRenderer(colors=stream.isatty()))
    lossy: Any = _Lossy(stream)
    structlog.configure(
        processors=shared,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(lossy),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=lossy, force=True)
    return AccessLog(lossy, as_json=as_json, enabled=level <= logging.INFO)


class RequestLine(msgspec.Struct, gc=False):
    """One request in the log."""

    event: str
    level: str
    timestamp: datetime
    request: str
    method: str
    route: str
    status: int
    ms: float
    user: int | None
    address: str


class AccessLog:
    """One line per request, gathered for a moment and written together."""

    def __init__(self, stream: TextIO, *, as_json: bool, enabled: bool) -> None:
        self._stream = stream
        self._as_json = as_json
        self._enabled = enabled
        self._lines: list[bytes] = []

    def write(
        self, request: str, method: str, route: str, status: int, took: float, user: int | None, address: str
    ) -> None:
        if not self._enabled:
            return
        if not self._lines:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)
        at = datetime.now(UTC)
        if self._as_json:
            entry = RequestLine(
                "request", "info", at, request, method, route, status, round(took * 1000, 2), user, address
            )
            self._lines.append(_encode(entry))
        else:
            who = f" user={user}" if user is not None else ""
            self._lines.append(f"{at:%H:%M:%S} {status} {method} {route} {took * 1000:.1f} ms{who}".encode())

    def flush(self) -> None:
        if self._lines:
            lines, self._lines = self._lines, []
            self._stream.write(b"\n".join(lines).decode() + "\n")
            self._stream.flush()
