"""The bytes of answers: status lines, the date, and the few answers given without asking the application."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from email.utils import formatdate
from http import HTTPStatus

__all__ = [
    "BAD_REQUEST",
    "CONTINUE",
    "FAILED",
    "FULL",
    "HEAD_TOO_LARGE",
    "NOT_IMPLEMENTED",
    "PATH_TOO_LONG",
    "REFUSALS",
    "REQUEST_LINE",
    "chunk",
    "close_frame",
    "date_line",
    "header_lines",
    "status_line",
    "text_frame",
]

REQUEST_LINE = re.compile(rb"[!#-'*+\-.0-9A-Z^-z|~]{1,64} \S{1,8000} HTTP/1\.[01]\r\n")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


def status_line(status: int) -> bytes:
    return _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as they go over the wire; none of them may bring a line of its own."""
    lines = [b"%b: %b\r\n" % (name.lower(), value) for name, value in headers]
    joined = b"".join(lines)
    if joined.count(b"\n") != len(lines) or joined.count(b"\r") != len(lines) or b"\0" in joined:
        raise ValueError("a header holds a line of its own")
    return joined


def chunk(body: bytes) -> bytes:
    """A piece of an answer whose length nobody knows."""
    return b"%x\r\n%b\r\n" % (len(body), body)


def text_frame(text: bytes) -> bytes:
    """A whole WebSocket message from a server, which does not mask (RFC 6455)."""
    length = len(text)
    if length < 126:
        return bytes((0x81, length)) + text
    if length < 1 << 16:
        return b"\x81\x7e" + length.to_bytes(2, "big") + text
    return b"\x81\x7f" + length.to_bytes(8, "big") + text


def close_frame(code: int) -> bytes:
    """The word of a server that a WebSocket ends (RFC 6455)."""
    return b"\x88\x02" + code.to_bytes(2, "big")


class _Date:
    """The `Date` header, made anew once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def __call__(self) -> bytes:
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._line = b"date: " + formatdate(second, usegmt=True).encode() + b"\r\n"
        return self._line


date_line = _Date()


def _short(status: int, text: str, *more: str) -> bytes:
    lines = (
        "content-type: text/plain; charset=utf-8",
        f"content-length: {len(text)}",
        "cache-control: no-store",
        "connection: close",
        *more,
    )
    return status_line(status) + "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + text.encode()


BAD_REQUEST = _short(400, "This is not HTTP as this server reads it.")
SLOW_HEAD = _short(408, "The request did not arrive in time.")
PATH_TOO_LONG = _short(414, "The address is too long.")
HEAD_TOO_LARGE = _short(431, "The request's headers are too long.")
NOT_IMPLEMENTED = _short(501, "This method is not known here.")
FULL = _short(503, "Too many connections are open, please try again.", "retry-after: 5")
TOO_MANY = _short(429, "Too many connections are open from this address.", "retry-after: 1")
REFUSALS = {408: SLOW_HEAD, 429: TOO_MANY, 503: FULL}
FAILED = _short(500, "Something went wrong on our side.")
