"""An answer as it leaves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

__all__ = ["CORS", "JSON", "PREFLIGHT", "Answer", "Headers", "whole"]

Headers = tuple[tuple[bytes, bytes], ...]

JSON: Headers = ((b"content-type", b"application/json"),)
CORS: Headers = (
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"Link, Mastodon-Async-Refresh, X-RateLimit-Reset, X-RateLimit-Limit, X-RateLimit-Remaining, X-Request-Id",
    ),
)
PREFLIGHT: Headers = (
    (b"access-control-allow-methods", b"POST, PUT, DELETE, GET, PATCH, OPTIONS"),
    (
        b"access-control-allow-headers",
        b"Authorization, Content-Type, Idempotency-Key, Cache-Control, Last-Event-Id",
    ),
    (b"access-control-max-age", b"86400"),
)


class Answer(msgspec.Struct, frozen=True):
    """With `pieces` the body comes bit by bit, and its length stands in the headers."""

    status: int
    headers: Headers
    body: bytes = b""
    pieces: AsyncIterator[bytes] | None = None


def whole(body: bytes, content_type: str, *, status: int = 200, headers: Headers = ()) -> Answer:
    return Answer(status, ((b"content-type", content_type.encode()), *headers), body)
