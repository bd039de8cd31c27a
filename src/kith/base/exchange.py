"""One request, socket or stream under way, and the dialect that it is spoken in.

An exchange holds the body to its limits, ends the request's `Work` before the first byte of the answer leaves
(committed for a yes, rolled back for a no), and adds the headers that its dialect owes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

import msgspec
import structlog

from kith.base.errors import Forbidden, Malformed, Problem, Throttled, TooLarge
from kith.base.limits import Limiter, LimitRule, Spent, address_key
from kith.base.pipe import Pipe
from kith.base.work import Acting, Origin, Work, Works

if TYPE_CHECKING:
    from kith.base.routing.route import Route

__all__ = ["JSON", "Answer", "Dialect", "Exchange", "Headers", "Server", "as_problem", "header", "whole"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Service = TypeVar("Service")
Headers = tuple[tuple[bytes, bytes], ...]

NOWHERE = frozenset((404, 405))
# Asking for what is not here, which no other limit counts: wrong addresses, wrong methods, wrong file names.
ASTRAY = LimitRule("astray", most=600, seconds=300)

DRAIN_BYTES = 4 << 20
DRAIN_SECONDS = 2.0

_log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode


class Answer(msgspec.Struct, frozen=True):
    """An answer as it leaves. With `pieces` the body comes bit by bit, and its length stands in the headers."""

    status: int
    headers: Headers
    body: bytes = b""
    pieces: AsyncIterator[bytes] | None = None


JSON: Headers = ((b"content-type", b"application/json"),)


def whole(body: bytes, content_type: str, *, status: int = 200, headers: Headers = ()) -> Answer:
    return Answer(status, ((b"content-type", content_type.encode()), *headers), body)


def as_json(_exchange: Exchange, status: int, value: object) -> Answer:
    return Answer(status, JSON, _encode(value))


class Dialect(msgspec.Struct, frozen=True):
    """One way the server is spoken to: its headers, whether browsers of other sites may, its errors' shape."""

    name: str
    headers: Headers
    shape: Callable[[Problem, Exchange], Answer]
    encode: Callable[[Exchange, int, object], Answer] = as_json
    enter: Callable[[Exchange], Awaitable[None]] | None = None  # what comes before any route of the dialect
    cors: bool = False
    preflight: Callable[[Exchange, list[str]], Answer] | None = None  # the answer to OPTIONS
    spent_headers: Callable[[Spent], Headers] | None = None
    refused: Callable[[Problem, Exchange], Awaitable[str]] | None = None  # writes a 403 down, and gives its code
    fold: Callable[[Exchange], Awaitable[None]] | None = None  # takes the parameters out of the body of a GET


class Server(msgspec.Struct, frozen=True):
    """What every exchange of a server has in common. What follows a secret path is itself a key."""

    works: Works
    routes: tuple[Route, ...] = ()
    headers: Headers = ()
    secret_paths: tuple[str, ...] = ()
    max_body: int = 1 << 20

    def safe_path(self, path: str) -> str:
        """A path fit for logs and audit."""
        for prefix in self.secret_paths:
            if path.startswith(prefix):
                return f"{prefix}..."
        return path


class Exchange:
    """One request under way."""

    __slots__ = (
        "_body",
        "_body_seen",
        "_body_whole",
        "_closing",
        "_receive",
        "_send",
        "_swallow",
        "_work",
        "acting",
        "address",
        "caller",
        "cookies",
        "dialect",
        "id",
        "is_head",
        "is_socket",
        "kept",
        "method",
        "path",
        "path_values",
        "route",
        "scope",
        "server",
        "session",
        "spent",
        "started_at",
        "status",
        "user_id",
        "version",
    )

    def __init__(self, server: Server, dialect: Dialect, scope: Scope, receive: Receive, send: Send) -> None:
        self.server = server
        self.scope = scope
        self._receive = receive
        self._send = send
        self._work: Work | None = None
        self._body: bytes | None = None
        self._body_seen = 0
        self._body_whole = False
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self._swallow = False
        self.id = token_hex(16)
        self.method: str = "WEBSOCKET" if scope["type"] == "websocket" else scope["method"]
        self.path: str = scope["path"]
        self.path_values: tuple[str, ...] = ()
        self.route: Route | None = None
        self.dialect = dialect
        self.address: str = scope["client"][0]
        self.is_head = False
        self.is_socket = scope["type"] == "websocket"
        self.started_at = time.perf_counter()
        self.status = 0
        self.caller: Any = None  # whoever the guard let in
        self.user_id: int | None = None
        self.session = ""
        self.acting: Acting | None = None
        self.kept: dict[type, Any] = {}  # what was looked up once for this request, by its type
        self.version: int | None = None
        self.spent: Spent | None = None
        self.cookies: list[bytes] = []  # to be set with whatever is answered

    @property
    def query_string(self) -> bytes:
        query: bytes = self.scope["query_string"]
        return query

    def header(self, name: bytes) -> bytes:
        return header(self.scope, name)

    def query(self, name: str) -> str:
        """One parameter of the query string, empty where it is not given."""
        found = parse_qs(self.query_string.decode("latin-1"), keep_blank_values=True).get(name)
        return found[0] if found else ""

    def find(self, kind: type[Service]) -> Service:
        """One of the server's own parts, by its type."""
        found: Service = self.server.works.services[kind]
        return found

    @property
    def work(self) -> Work:
        """The request's one transaction, opened when somebody first asks for it."""
        if self._work is None:
            self._work = self.server.works.open(self.origin)
        return self._work

    def origin(self) -> Origin:
        return Origin(
            request_id=self.id,
            address=self.address,
            method=self.method,
            path=self.server.safe_path(self.path),
            query=self.query_string.decode("latin-1")[:2000],
            user_agent=self.header(b"user-agent").decode("latin-1")[:300],
            session=self.session,
            acting=self.acting,
        )

    def is_from(self, session: str, acting: Acting | None) -> None:
        """Whose browser it is has been found out; what is written from now on says so."""
        self.session, self.acting = session, acting
        if self._work is not None:
            self._work.come_from(self.origin)

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have `close` called when the exchange is over, however it ends."""
        self._closing.append(close)

    # What comes in

    async def receive(self) -> Message:
        """The next piece of the body, within its limits; that it comes in time is the server's matter."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._body_seen += len(message.get("body", b""))
            if self._body_seen > self.server.max_body:
                raise TooLarge
            self._body_whole = not message.get("more_body", False)
        return message

    async def chunks(self, most: int) -> AsyncGenerator[bytes, None]:
        """The body piece by piece, `most` bytes in all."""
        length = self.header(b"content-length")
        if length and not length.isdigit():
            raise Malformed("The Content-Length header is not a number")
        if length and int(length) > most:
            raise TooLarge
        if self._body is not None:
            if len(self._body) > most:
                raise TooLarge
            if self._body:
                yield self._body
            return
        size = 0
        while not self._body_whole:
            message = await self.receive()
            if message["type"] != "http.request":
                raise Malformed("The body ended too early")
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > most:
                raise TooLarge
            if chunk:
                yield chunk

    async def body(self, most: int) -> bytes:
        """The whole body; who asks a second time gets the same."""
        if self._body is None or len(self._body) > most:
            self._body = b"".join([chunk async for chunk in self.chunks(most)])
        return self._body

    # What goes out

    async def send(self, message: Message) -> None:
        """A message to the client as it is, after the work is ended."""
        if self._swallow:
            return
        if message["type"] == "http.response.start":
            await self._start(message["status"], message["headers"])
        elif self.is_head:
            if not message.get("more_body"):
                await self._send({"type": "http.response.body", "body": b""})
        else:
            await self._send(message)

    async def _start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        try:
            await self.end_work(commit=status < 400)
            if status in NOWHERE:
                self._count_astray()
            if status >= 400:
                await self._drain()
        except Exception as error:  # noqa: BLE001 - nothing was sent yet, so the client can still be told
            self._swallow = True
            await self.fail(error)
            return
        await self._send_head(status, [*headers, *self._headers(headers)])

    async def _send_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.status = status
        if self.user_id is not None:
            self.scope["known"] = True  # the connection is a known person's: it is kept longer than a stranger's
        await self._say({"type": "http.response.start", "status": status, "headers": headers})

    async def _say(self, message: Message) -> None:
        """To whoever asked for a socket, too: an answer that comes instead of one has names of its own."""
        if self.is_socket:
            message = {**message, "type": f"websocket.{message['type']}"}
        await self._send(message)

    @property
    def pipe(self) -> Pipe:
        found: Pipe = self.scope["extensions"]["kith.pipe"]
        return found

    async def until_left(self) -> None:
        """Wait until the client is gone, or the server wants the answer to end."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def accept(self, subprotocol: str = "", *, most: int | None = None) -> None:
        """Open the socket, for messages of up to `most` bytes; what was done so far is committed first."""
        await self.end_work(commit=True)
        self.status = 101
        headers = self._headers(())
        await self._send(
            {"type": "websocket.accept", "subprotocol": subprotocol or None, "headers": headers, "max_size": most}
        )

    async def end_work(self, *, commit: bool) -> None:
        work, self._work = self._work, None
        if work is None:
            return
        if not commit:
            await work.rollback()
            return
        try:
            await work.commit()
        except BaseException:
            await work.rollback()
            raise

    async def end(self) -> None:
        """Nothing of the exchange is left: its work is ended, and what it held is closed."""
        await self.end_work(commit=False)
        closing, self._closing = self._closing, []
        for close in closing:
            await close()

    async def _drain(self) -> None:
        """Take in a little of what the client is still sending, so that it lives to read the answer."""
        if (
            self._body_whole
            or self.is_socket
            or not (self.header(b"content-length") or self.header(b"transfer-encoding"))
        ):
            return
        self._body_whole, seen = True, 0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while seen < DRAIN_BYTES:
                    message = await self._receive()
                    seen += len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body"):
                        return

    async def fail(self, error: Exception) -> None:
        """Answer with the dialect's own shape of `error`, straight to the wire."""
        await self.end_work(commit=False)
        await self._drain()
        problem = as_problem(error, self)
        if problem.status in NOWHERE:
            try:
                self._count_astray()
            except Throttled as throttled:
                problem = throttled
        await self._write_down(problem)
        answer = self.dialect.shape(problem, self)
        length = (b"content-length", str(len(answer.body)).encode())
        await self._send_head(answer.status, [*answer.headers, length, *self._headers(answer.headers)])
        await self._say({"type": "http.response.body", "body": b"" if self.is_head else answer.body})

    def _count_astray(self) -> None:
        """Strangers who ask for what is not here are counted, unless the asking was counted already."""
        if self.spent is None and self.user_id is None:
            self.find(Limiter).spend(ASTRAY, address_key(self.address))

    async def _write_down(self, problem: Problem) -> None:
        if problem.status != Forbidden.status or self.dialect.refused is None or "refusal" in problem.extra:
            return
        try:
            problem.extra["refusal"] = await self.dialect.refused(problem, self)
        except Exception as error:  # noqa: BLE001 - it is a no all the same
            _log.error("request.refusal_not_kept", request=self.id, exc_info=error)

    async def answer(self, answer: Answer) -> None:
        if answer.pieces is not None:
            await self._answer_in_pieces(answer, answer.pieces)
            return
        await self._start(answer.status, (*answer.headers, (b"content-length", str(len(answer.body)).encode())))
        if not self._swallow:
            await self._say({"type": "http.response.body", "body": b"" if self.is_head else answer.body})

    async def _answer_in_pieces(self, answer: Answer, pieces: AsyncIterator[bytes]) -> None:
        await self._start(answer.status, answer.headers)
        if self._swallow:
            return
        if not self.is_head:
            async for piece in pieces:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def _headers(self, given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """What every answer gets besides its own; where it says otherwise than its dialect, that counts."""
        name, own = self.id.encode(), [key.lower() for key, _ in given]
        headers = [(b"x-request-id", name), (b"x-kith-request-id", name), *self.server.headers]
        headers += [one for one in self.dialect.headers if one[0] not in own]
        if self.spent is not None and self.dialect.spent_headers is not None:
            headers.extend(self.dialect.spent_headers(self.spent))
        if self.dialect.cors and self.header(b"origin"):
            headers.extend(CORS)
        headers.extend((b"set-cookie", cookie) for cookie in self.cookies)
        return headers


def header(scope: Scope, name: bytes) -> bytes:
    for key, value in scope["headers"]:
        if key == name:
            return value  # type: ignore[no-any-return]
    return b""


def as_problem(error: Exception, exchange: Exchange) -> Problem:
    """What the client may know of `error`; what we did wrong goes to the log, under the request's id."""
    if isinstance(error, Problem) and error.status < 500:
        return error
    _log.error(
        "request.failed",
        request=exchange.id,
        method=exchange.method,
        path=exchange.server.safe_path(exchange.path),
        exc_info=error,
    )
    return error if isinstance(error, Problem) else Problem()


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
