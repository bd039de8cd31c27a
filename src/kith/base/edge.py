"""The edge of the server: what every request passes, whichever face it is for.

It gives each request an id and a client address, holds the body to its limits, ends the request's `Work`
before the first byte of the answer leaves (committed for a yes, rolled back for a no), adds the headers each
face owes, and writes the log line.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from secrets import token_hex
from typing import Any, TypeVar

import msgspec
import structlog
from litestar.connection import ASGIConnection

from kith.base.errors import Forbidden, MethodNotAllowed, Problem, Throttled, TooLarge
from kith.base.limits import Limiter, Rule, Spent, address_key
from kith.base.log import AccessLog
from kith.base.metrics import IN_FLIGHT, REQUESTS
from kith.base.work import Acting, Origin, Work, Works

__all__ = ["JSON", "Answer", "Edge", "Exchange", "Face", "exchange_of"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Service = TypeVar("Service")
Headers = tuple[tuple[bytes, bytes], ...]

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
NOWHERE = frozenset((404, 405))
# Asking for what is not here, which no other limit counts: wrong addresses, wrong methods, wrong file names.
ASTRAY = Rule("astray", most=600, seconds=300)

DRAIN_BYTES = 4 << 20
DRAIN_SECONDS = 2.0

_log = structlog.get_logger()


class Answer(msgspec.Struct, frozen=True):
    """A whole answer, as a face shapes it."""

    status: int
    headers: Headers
    body: bytes


JSON: Headers = ((b"content-type", b"application/json"),)


class Face(msgspec.Struct, frozen=True):
    """One way the server is spoken to: its headers, whether browsers of other sites may, its errors' shape."""

    name: str
    headers: Headers
    shape: Callable[[Problem, Exchange], Answer]
    cors: bool = False
    spent_headers: Callable[[Spent], Headers] | None = None
    refused: Callable[[Problem, Exchange], Awaitable[str]] | None = None  # writes a 403 down, and gives its code
    fold: Callable[[Exchange], Awaitable[None]] | None = None  # takes the parameters out of the body of a GET


class Exchange:
    """One request under way; handlers find it as `scope["kith"]`."""

    __slots__ = (
        "_body_seen", "_body_whole", "_receive", "_send", "_swallow", "_work", "acting", "address",
        "cookies", "edge", "face", "id", "is_head", "kept", "path", "scope", "session", "spent", "started_at",
        "status", "user_id", "version",
    )  # fmt: skip

    def __init__(self, edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
        self.edge = edge
        self.scope = scope
        self._receive = receive
        self._send = send
        self._work: Work | None = None
        self._body_seen = 0
        self._body_whole = False
        self._swallow = False
        self.id = token_hex(16)
        self.path: str = scope["path"]
        self.face = edge.face_of(self.path)
        self.address: str = scope["client"][0]
        self.is_head = False
        self.started_at = time.perf_counter()
        self.status = 0
        self.user_id: int | None = None
        self.session = ""
        self.acting: Acting | None = None
        self.kept: dict[type, Any] = {}  # what was looked up once for this request, by its type
        self.version: int | None = None
        self.spent: Spent | None = None
        self.cookies: list[bytes] = []  # to be set with whatever is answered

    def header(self, name: bytes) -> bytes:
        return header(self.scope, name)

    def find(self, kind: type[Service]) -> Service:
        """One of the server's own parts, by its type."""
        found: Service = self.edge.works.services[kind]
        return found

    @property
    def work(self) -> Work:
        """The request's one transaction, opened when somebody first asks for it."""
        if self._work is None:
            self._work = self.edge.works.open(self.origin)
        return self._work

    def origin(self) -> Origin:
        scope = self.scope
        return Origin(
            request_id=self.id,
            address=self.address,
            method=scope["method"],
            path=self.edge.safe_path(self.path),
            query=scope["query_string"].decode("latin-1")[:2000],
            user_agent=header(scope, b"user-agent").decode("latin-1")[:300],
            session=self.session,
            acting=self.acting,
        )

    def is_from(self, session: str, acting: Acting | None) -> None:
        """Whose browser it is has been found out; what is written from now on says so."""
        self.session, self.acting = session, acting
        if self._work is not None:
            self._work.come_from(self.origin)

    async def receive(self) -> Message:
        """The next piece of the body, within its limits; that it comes in time is the server's matter."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._body_seen += len(message.get("body", b""))
            if self._body_seen > self.edge.max_body:
                raise TooLarge
            self._body_whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self._swallow:
            return
        if message["type"] == "http.response.start":
            await self._start(message)
        elif self.is_head:
            if not message.get("more_body"):
                await self._send({"type": "http.response.body", "body": b""})
        else:
            await self._send(message)

    async def _start(self, message: Message) -> None:
        status = message["status"]
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
        await self._send_head(status, [*message["headers"], *self._headers(message["headers"])])

    async def _send_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.status = status
        if self.user_id is not None:
            self.scope["known"] = True  # the connection is a known person's: it is kept longer than a stranger's
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

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

    async def _drain(self) -> None:
        """Take in a little of what the client is still sending, so that it lives to read the answer."""
        if self._body_whole or not (self.header(b"content-length") or self.header(b"transfer-encoding")):
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
        """Answer with the face's own shape of `error`, straight to the wire."""
        await self.end_work(commit=False)
        await self._drain()
        problem = as_problem(error, self)
        if problem.status in NOWHERE:
            try:
                self._count_astray()
            except Throttled as throttled:
                problem = throttled
        await self._write_down(problem)
        answer = self.face.shape(problem, self)
        length = (b"content-length", str(len(answer.body)).encode())
        await self._send_head(answer.status, [*answer.headers, length, *self._headers(answer.headers)])
        await self._send({"type": "http.response.body", "body": b"" if self.is_head else answer.body})

    def _count_astray(self) -> None:
        """Strangers who ask for what is not here are counted, unless the asking was counted already."""
        if self.spent is None and self.user_id is None:
            self.find(Limiter).spend(ASTRAY, address_key(self.address))

    async def _write_down(self, problem: Problem) -> None:
        if problem.status != Forbidden.status or self.face.refused is None or "refusal" in problem.extra:
            return
        try:
            problem.extra["refusal"] = await self.face.refused(problem, self)
        except Exception as error:  # noqa: BLE001 - it is a no all the same
            _log.error("request.refusal_not_kept", request=self.id, exc_info=error)

    async def answer(self, answer: Answer) -> None:
        """A whole answer, without the framework in between."""
        body = b"" if self.is_head else answer.body
        length = (b"content-length", str(len(answer.body)).encode())
        await self.send({"type": "http.response.start", "status": answer.status, "headers": (*answer.headers, length)})
        if not self._swallow:
            await self._send({"type": "http.response.body", "body": body})

    def _headers(self, given: Iterable[tuple[bytes, bytes]] = ()) -> list[tuple[bytes, bytes]]:
        """What every answer gets besides its own; where it says otherwise than its face, that counts."""
        name, own = self.id.encode(), [key.lower() for key, _ in given]
        headers = [(b"x-request-id", name), (b"x-kith-request-id", name), *self.edge.headers]
        headers += [one for one in self.face.headers if one[0] not in own]
        if self.spent is not None and self.face.spent_headers is not None:
            headers.extend(self.face.spent_headers(self.spent))
        if self.face.cors and header(self.scope, b"origin"):
            headers.extend(CORS)
        headers.extend((b"set-cookie", cookie) for cookie in self.cookies)
        return headers


Mount = Callable[[Exchange], Awaitable[Answer | None]]


class Edge:
    """The ASGI application that stands before all others.

    `mounts` holds small applications that answer everything they know below a prefix without the framework, which
    gets the rest.
    """

    def __init__(
        self,
        app: App,
        works: Works,
        *,
        mounts: Mapping[str, Mount] | None = None,
        face_of: Callable[[str], Face],
        access_log: AccessLog,
        headers: Headers = (),
        secret_paths: tuple[str, ...] = (),
        max_body: int = 1 << 20,
    ) -> None:
        self._app = app
        self.works = works
        self.face_of = face_of
        self.max_body = max_body
        self._mounts = tuple((mounts or {}).items())
        self._access_log = access_log
        self._secret_paths = secret_paths
        self.headers = headers
        self._observers: dict[tuple[str, str, int], Callable[[float], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(self, scope, receive, send)
        scope["kith"] = exchange
        if scope["method"] == "HEAD":
            scope["method"], exchange.is_head = "GET", True
        IN_FLIGHT.inc()
        try:
            if "refusal" in scope:
                raise scope["refusal"]
            if scope["method"] not in METHODS:
                raise MethodNotAllowed(
                    f'Method "{scope["method"][:20]}" not allowed.', headers={"Allow": ", ".join(sorted(METHODS))}
                )
            if exchange.face.fold is not None and scope["method"] == "GET" and _has_body(scope):
                self._refuse_too_large(scope)
                await exchange.face.fold(exchange)
            answer = await self._mounted(exchange)
            if answer is not None:
                await exchange.answer(answer)
            elif exchange.face.cors and scope["method"] == "OPTIONS" and header(scope, b"origin"):
                await exchange.send({"type": "http.response.start", "status": 200, "headers": list(PREFLIGHT)})
                await exchange.send({"type": "http.response.body", "body": b""})
            else:
                self._refuse_too_large(scope)
                await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:
            if exchange.status:
                raise
            await exchange.fail(error)
        finally:
            IN_FLIGHT.dec()
            await exchange.end_work(commit=False)
            self._record(exchange)

    async def _mounted(self, exchange: Exchange) -> Answer | None:
        for prefix, mount in self._mounts:
            if exchange.path.startswith(prefix):
                self._refuse_too_large(exchange.scope)
                return await mount(exchange)
        return None

    def safe_path(self, path: str) -> str:
        """A path fit for logs and audit: what follows a secret prefix is itself a key."""
        for prefix in self._secret_paths:
            if path.startswith(prefix):
                return f"{prefix}..."
        return path

    def _refuse_too_large(self, scope: Scope) -> None:
        length = header(scope, b"content-length")
        if length and (not length.isdigit() or int(length) > self.max_body):
            raise TooLarge

    def _record(self, exchange: Exchange) -> None:
        scope = exchange.scope
        took = time.perf_counter() - exchange.started_at
        route = scope.get("path_template") or "unknown"
        method = scope["method"] if scope["method"] in METHODS else "other"
        # Of each there are only so many: known methods, the routes' own templates, and the statuses we answer with.
        key = (method, route, exchange.status)
        observe = self._observers.get(key)
        if observe is None:
            observe = self._observers[key] = REQUESTS.labels(method, route, str(exchange.status)).observe
        observe(took)
        self._access_log.write(
            exchange.id, "HEAD" if exchange.is_head else method, route, exchange.status, took,
            exchange.user_id, exchange.address,
        )  # fmt: skip


def exchange_of(request: ASGIConnection[Any, Any, Any, Any]) -> Exchange:
    """The exchange behind one of the framework's requests."""
    exchange: Exchange = request.scope["kith"]  # type: ignore[typeddict-item]
    return exchange


def header(scope: Scope, name: bytes) -> bytes:
    for key, value in scope["headers"]:
        if key == name:
            return value  # type: ignore[no-any-return]
    return b""


def _has_body(scope: Scope) -> bool:
    for key, value in scope["headers"]:
        if key == b"transfer-encoding" or (key == b"content-length" and value != b"0"):
            return True
    return False


def as_problem(error: Exception, exchange: Exchange) -> Problem:
    """What the client may know of `error`; what we did wrong goes to the log, under the request's id."""
    if isinstance(error, Problem) and error.status < 500:
        return error
    _log.error(
        "request.failed", request=exchange.id, method=exchange.scope["method"],
        path=exchange.edge.safe_path(exchange.path),
        exc_info=error,
    )  # fmt: skip
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
    (b"content-length", b"0"),
)
