"""One request, socket or stream under way.

An exchange ends the request's `Work` before the first byte of the answer leaves (committed for a yes, rolled back
for a no), and adds the headers that its dialect owes.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from random import getrandbits
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs

from kith.base.counted_log import log_counted
from kith.base.errors import Forbidden, NoSpace, Problem, Throttled, Unauthenticated, is_no_room
from kith.base.exchange.answers import CORS, Answer, Headers
from kith.base.exchange.dialects import Dialect, Server
from kith.base.exchange.incoming import Incoming, Message, Receive, Scope, Send
from kith.base.limits import Limiter, LimitRule, Spent, address_key
from kith.base.pipe import Pipe
from kith.base.server.wire import header_lines
from kith.base.work import Acting, Origin, Work

if TYPE_CHECKING:
    from kith.base.routing.route import Route

__all__ = ["Exchange"]

Service = TypeVar("Service")

NOWHERE = frozenset((404, 405))
# Asking for what is not here, which no other limit counts: wrong addresses, wrong methods, wrong file names.
ASTRAY = LimitRule("astray", most=600, seconds=300)

_CORS_LINES = header_lines(CORS)

PATIENCE = 1.0  # seconds for the rest of a request, after which its caller is looked at again

StillKnown = Callable[[Work], Awaitable[bool]]


class _CallerCheck:
    """How to find out whether the caller would still be let in, and may do no less than then."""

    __slots__ = ("is_known", "may_as_much")

    def __init__(self, is_known: StillKnown) -> None:
        self.is_known = is_known
        self.may_as_much: StillKnown | None = None


async def _ask(check: _CallerCheck, work: Work) -> None:
    if not await check.is_known(work):
        raise Unauthenticated("You were signed out while this was being done.")
    if check.may_as_much is not None and not await check.may_as_much(work):
        raise Forbidden("What you may do was changed while this was being done.")


class Exchange:
    """One request under way."""

    __slots__ = (
        "_closing",
        "_header_values",
        "_incoming",
        "_query",
        "_receive",
        "_send",
        "_work",
        "acting",
        "address",
        "caller",
        "cookies",
        "dialect",
        "has_waited",
        "id",
        "is_head",
        "is_part",
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

    dialect: Dialect  # found out by the edge, with the route

    def __init__(self, server: Server, scope: Scope, receive: Receive, send: Send) -> None:
        self.server = server
        self.scope = scope
        self._receive = receive
        self._send = send
        self._work: Work | None = None
        self._incoming: Incoming | None = None
        self._query: tuple[bytes, dict[str, list[str]]] | None = None  # as it was read when first asked for
        self._header_values: dict[bytes, bytes] = dict(scope["headers"][::-1])  # of several, the first counts
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self.id = f"{getrandbits(128):032x}"  # known to whoever asks: it names, it does not protect
        self.is_socket = scope["type"] == "websocket"
        self.method: str = "WEBSOCKET" if self.is_socket else scope["method"]
        self.path: str = scope["path"]
        self.path_values: tuple[str, ...] = ()
        self.route: Route | None = None
        self.address: str = scope["client"][0]
        self.is_head = False
        self.is_part = False  # of another exchange, whose work it shares
        self.has_waited = False  # for a body that came slowly: what was found out before may not be true any more
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
        return self._header_values.get(name, b"")

    @property
    def host(self) -> str:
        """The host that the client asked, as it says itself: it may choose what is shown, never where a link leads."""
        return self.header(b"host").decode("latin-1")[:300]

    def query(self, name: str) -> str:
        """One parameter of the query string, empty where it is not given."""
        query = self.query_string
        if not query:
            return ""
        if self._query is None or self._query[0] is not query:
            self._query = query, parse_qs(query.decode("latin-1"), keep_blank_values=True)
        found = self._query[1].get(name)
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

    def share_work(self, other: Exchange) -> None:
        """Be a part of `other`: what is done here is committed or rolled back there."""
        self._work, self.id = other.work, other.id
        self.is_part = True
        self.session, self.acting = other.session, other.acting
        self.kept = other.kept

    def origin(self) -> Origin:
        return Origin(
            request_id=self.id,
            address=self.address,
            method=self.method,
            path=self.server.safe_path(self.path),
            query=self.query_string.decode("latin-1")[:2000],
            user_agent=self.header(b"user-agent").decode("latin-1")[:300],
            host=self.host,
            session=self.session,
            acting=self.acting,
        )

    def is_from(self, session: str, acting: Acting | None) -> None:
        """Whose browser it is has been found out; what is written from now on says so."""
        self.session, self.acting = session, acting
        if self._work is not None:
            self._work.come_from(self.origin)

    def known_while(self, is_known: StillKnown) -> None:
        """The caller was let in by something that may end: `is_known` asks whether it is there still."""
        self.kept[_CallerCheck] = _CallerCheck(is_known)

    def with_rights_while(self, may_as_much: StillKnown) -> None:
        """Let the caller go on while `may_as_much` says that they may do no less than when they were let in. Call it
        after `known_while`."""
        check: _CallerCheck | None = self.kept.get(_CallerCheck)
        if check is not None:
            check.may_as_much = may_as_much

    async def look_again(self, work: Work | None = None) -> None:
        """Refuse a caller whose session, token, password or rights have ended since they were let in.

        Called after each wait that somebody else can draw out: whatever ended meanwhile has removed what was there,
        and nothing may be added to it afterwards. Streams and sockets, which wait for long, are ended by news.
        `work` is the one in which it is asked, if it is not to be one of its own.
        """
        check: _CallerCheck | None = self.kept.get(_CallerCheck)
        if check is None or self.status:
            return
        await (self._look_at(check) if work is None else _ask(check, work))

    async def may_go_on(self) -> bool:
        """Whether the caller may still have the rest of an answer that is under way."""
        check: _CallerCheck | None = self.kept.get(_CallerCheck)
        try:
            if check is not None:
                await self._look_at(check)
        except (Unauthenticated, Forbidden):
            return False
        return True

    async def _look_at(self, check: _CallerCheck) -> None:
        async with self.server.works.begin(self.origin) as work:
            await _ask(check, work)

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have `close` called when the exchange is over, however it ends."""
        self._closing.append(close)

    # What comes in

    @property
    def has_body(self) -> bool:
        values = self._header_values
        return b"transfer-encoding" in values or values.get(b"content-length", b"0") != b"0"

    @property
    def incoming(self) -> Incoming:
        if self._incoming is None:
            self._incoming = Incoming(self._receive, self.header(b"content-length"), self.server.max_body)
        return self._incoming

    async def receive(self) -> Message:
        return await self.incoming.receive()

    async def chunks(self, most: int) -> AsyncGenerator[bytes, None]:
        """The body piece by piece, `most` bytes in all."""
        begun = time.monotonic()
        async for chunk in self.incoming.chunks(most):
            yield chunk
        await self._look_again_since(begun)

    async def body(self, most: int) -> bytes:
        """The whole body; who asks a second time gets the same."""
        begun = time.monotonic()
        found = await self.incoming.body(most)
        await self._look_again_since(begun)
        return found

    async def _look_again_since(self, begun: float) -> None:
        if time.monotonic() - begun > PATIENCE:
            self.has_waited = True
            await self.look_again()

    async def _drain(self) -> None:
        values = self._header_values
        if not self.is_socket and (b"content-length" in values or b"transfer-encoding" in values):
            await self.incoming.drain()

    # What goes out

    async def send(self, message: Message) -> None:
        """A message to the client as it is: of a socket that was accepted."""
        await self._send(message)

    async def answer(self, answer: Answer) -> None:
        try:
            await self.end_work(commit=answer.status < 400)
            if answer.status in NOWHERE:
                self._count_astray()
            if answer.status >= 400:
                await self._drain()
            if self.server.pack is not None and answer.pieces is None:
                answer = await self.server.pack(self, answer)
        except Exception as error:  # noqa: BLE001 - nothing was sent yet, so the client can still be told
            await self.fail(error)
            return
        if answer.pieces is not None:
            await self._respond_in_pieces(answer, answer.pieces)
        else:
            await self._respond(answer)

    async def _respond(self, answer: Answer) -> None:
        body, own = answer.body, (*answer.headers, (b"content-length", b"%d" % len(answer.body)))
        if self.is_head:
            body = b""
        self._begin(answer.status)
        if "kith.response" in self.scope.get("extensions", ()):
            headers, lines = self._headers(own)
            await self._send(
                {"type": "kith.response", "status": answer.status, "headers": headers, "lines": lines, "body": body}
            )
            return
        await self._say({"type": "http.response.start", "status": answer.status, "headers": self._all_headers(own)})
        await self._say({"type": "http.response.body", "body": body})

    async def _respond_in_pieces(self, answer: Answer, pieces: AsyncIterator[bytes]) -> None:
        self._begin(answer.status)
        headers = self._all_headers(answer.headers)
        await self._say({"type": "http.response.start", "status": answer.status, "headers": headers})
        if not self.is_head:
            async for piece in pieces:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    def _begin(self, status: int) -> None:
        self.status = status
        if self.user_id is not None:
            self.scope["known"] = True  # the connection is a known person's: it is kept longer than a stranger's

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
        headers = self._all_headers(())
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
        if self._work is not None:
            await self.end_work(commit=False)
        closing, self._closing = self._closing, []
        for close in closing:
            await close()

    @property
    def is_entering(self) -> bool:
        """Whether this is part of signing in or out, which has room on a full disk too."""
        return self.route is not None and self.route.is_for_entering

    @property
    def is_of_known(self) -> bool:
        """Whether they have shown who they are, or somebody has signed in in this browser before."""
        return self.user_id is not None or self.server.knows_browser(self)

    async def fail(self, error: Exception) -> None:
        """Answer with the dialect's own shape of `error`."""
        await self.end_work(commit=False)
        await self._drain()
        problem = self._as_problem(error)
        if problem.status in NOWHERE:
            try:
                self._count_astray()
            except Throttled as throttled:
                problem = throttled
        await self._write_down(problem)
        await self._respond(self.dialect.shape(problem, self))

    def _as_problem(self, error: Exception) -> Problem:
        """What the client may know of `error`; what we did wrong goes to the log, under the request's id."""
        if isinstance(error, Problem) and error.status < 500:
            return error
        details: dict[str, Any] = {
            "request": self.id,
            "method": self.method,
            "path": self.server.safe_path(self.path),
        }
        if isinstance(error, NoSpace) or is_no_room(error):
            log_counted("error", "request.no_space", cause=repr(error.__cause__), **details)
            return error if isinstance(error, NoSpace) else NoSpace()
        if isinstance(error, Problem) and error.status > Problem.status:
            # It says itself what is wrong: that we are busy, or that something is away.
            told: dict[str, Any] = {
                "status": error.status,
                "code": error.code,
                "cause": repr(error.__cause__ or "")[:300],
            }
            log_counted("warning", "request.not_now", error.code, **told, **details)
            return error
        log_counted("error", "request.failed", error=error, **details)
        return error if isinstance(error, Problem) else Problem()

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
            log_counted("error", "request.refusal_not_kept", error=error, request=self.id)

    def _all_headers(self, own: Headers) -> list[tuple[bytes, bytes]]:
        """What an answer brings and what every answer gets; where it says otherwise than its dialect, that counts."""
        beside = self.dialect.headers_beside(own)
        headers = [*own, *self._own_headers(), *self.server.headers]
        headers += self.dialect.headers if beside is None else beside
        if self.dialect.cors and b"origin" in self._header_values:
            headers += CORS
        return headers

    def _headers(self, own: Headers) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """The same, with what never changes as lines that are ready."""
        beside = self.dialect.headers_beside(own)
        headers, lines = [*own, *self._own_headers()], self.server.lines
        if beside is None:
            lines += self.dialect.lines
        else:
            headers += beside
        if self.dialect.cors and b"origin" in self._header_values:
            lines += _CORS_LINES
        return headers, lines

    def _own_headers(self) -> list[tuple[bytes, bytes]]:
        """What differs from one exchange to the next."""
        name = self.id.encode()
        headers = [(b"x-request-id", name), (b"x-kith-request-id", name)]
        if self.spent is not None and self.dialect.spent_headers is not None:
            headers += self.dialect.spent_headers(self.spent)
        for cookie in self.cookies:
            headers.append((b"set-cookie", cookie))
        return headers
