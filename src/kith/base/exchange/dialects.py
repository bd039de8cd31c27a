"""The ways the server is spoken to, and what all exchanges of a server have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from kith.base.errors import Problem
from kith.base.exchange.answers import JSON, Answer, Headers
from kith.base.limits import Spent
from kith.base.server.wire import header_lines
from kith.base.work import Works

if TYPE_CHECKING:
    from kith.base.exchange.exchange import Exchange
    from kith.base.routing.route import Route

__all__ = ["Dialect", "Server"]

_encode = msgspec.json.Encoder().encode


def as_json(_exchange: Exchange, status: int, value: object) -> Answer:
    return Answer(status, JSON, _encode(value))


Packs = Callable[["Exchange", Answer], Awaitable[Answer]]


class Dialect(msgspec.Struct, frozen=True):
    """One way the server is spoken to: its headers, whether browsers of other sites may, its errors' shape."""

    name: str
    headers: Headers
    shape: Callable[[Problem, Exchange], Answer]
    encode: Callable[[Exchange, int, object], Answer] = as_json
    enter: Callable[[Exchange], Awaitable[None]] | None = None  # what comes before any route of the dialect
    cors: bool = False
    updates_alike: bool = False  # what takes PUT takes PATCH as well, and does the same
    preflight: Callable[[Exchange, list[str]], Answer] | None = None  # the answer to OPTIONS
    spent_headers: Callable[[Spent], Headers] | None = None
    refused: Callable[[Problem, Exchange], Awaitable[str]] | None = None  # writes a 403 down, and gives its code
    fold: Callable[[Exchange], Awaitable[None]] | None = None  # takes the parameters out of the body of a GET
    lines: bytes = b""  # `headers` as they go over the wire
    names: frozenset[bytes] = frozenset()  # of `headers`

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "lines", header_lines(self.headers))
        msgspec.structs.force_setattr(self, "names", frozenset(name for name, _ in self.headers))

    def headers_beside(self, own: Headers) -> Headers | None:
        """The dialect's headers where an answer brings one of them itself; None where it does not."""
        for name, _ in own:
            if name.lower() in self.names:
                brought = {name.lower() for name, _ in own}
                return tuple(one for one in self.headers if one[0] not in brought)
        return None


class Server(msgspec.Struct, frozen=True):
    """What every exchange of a server has in common. What follows a secret path is itself a key."""

    works: Works
    routes: tuple[Route, ...] = ()
    headers: Headers = ()
    secret_paths: tuple[str, ...] = ()
    max_body: int = 1 << 20
    pack: Packs | None = None  # makes answers smaller on their way
    knows_browser: Callable[[Exchange], bool] = lambda _: False  # whether somebody has signed in there before
    lines: bytes = b""  # `headers` as they go over the wire

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "lines", header_lines(self.headers))

    def safe_path(self, path: str) -> str:
        """A path fit for logs and audit."""
        for prefix in self.secret_paths:
            if path.startswith(prefix) and path != prefix:
                return f"{prefix}..."
        return path
