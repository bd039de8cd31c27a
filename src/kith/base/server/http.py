"""One HTTP/1.1 connection: its requests one after the other, and how long it may keep the server waiting."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from kith.base.errors import Malformed, Problem
from kith.base.server import sockets, wire
from kith.base.server.call import MOST_HELD, Call, ClientGone, Request
from kith.base.server.patience import Patience
from kith.base.server.proxies import plain
from kith.base.server.reader import STEP, Reader
from kith.base.server.turns import CREDENTIALS, KNOWN, STRANGER
from kith.base.server.websocket import WebSocket

if TYPE_CHECKING:
    from kith.base.server.listening import HttpServer

__all__ = ["HttpConnection"]

TELL_SECONDS = 2.0  # for telling why it must go

_log = structlog.get_logger()


class HttpConnection(asyncio.Protocol):
    __slots__ = (
        "_acked", "_crowded", "_entered", "_has_begun", "_is_paused", "_is_proxy", "_parted", "_patience",
        "_paused_at", "_told", "_written", "call", "client", "drained", "is_closing", "is_deaf", "is_gone",
        "is_known", "is_waiting", "loop", "reader", "register", "server", "since", "transport", "websocket",
    )  # fmt: skip

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.loop = server.loop
        self.register = server.register
        self.transport: Any = None
        self.client = ("", 0)
        self.drained: asyncio.Future[None] | None = None  # while the client does not read
        self.is_gone = False
        self.is_known = False
        self.is_waiting = False
        self.since = 0.0
        self.reader = Reader(self)
        self.call: Call | None = None  # the one that is being answered
        self.websocket: WebSocket | None = None
        self._entered: str | None = None  # the address it is counted for
        self._crowded: Problem | None = None
        self._has_begun = False  # something has been sent
        self._is_proxy = False
        self.is_closing = False  # after what is being answered
        self.is_deaf = False  # nothing more is read
        self._is_paused = False
        self._paused_at = 0.0
        self._parted = False  # it must go, and counts no more
        self._told = False
        self._patience = Patience(server.register.limits)
        self._written = 0
        self._acked = 0

    # The transport's words

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        peer = transport.get_extra_info("peername") or ("", 0)
        self.client = (plain(peer[0]), peer[1])
        if not self.register.open():
            self.is_gone = self.is_closing = self._parted = True
            self.transport.write(wire.FULL)
            self.transport.close()
            return
        self.server.open.add(self)
        self._is_proxy = self.server.proxies.is_one(self.client[0])
        if not self._is_proxy:
            self._enter(self.client[0])
        self._patience.begin(self.register.now)
        self.register.wait_for(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self not in self.server.open:
            return
        self.server.open.discard(self)
        self._forget()
        self.register.close(parted=self._parted, told=self._told)
        self.is_gone = True
        if self.drained is not None and not self.drained.done():
            self.drained.set_exception(ClientGone())
            self.drained.exception()
        if self.websocket is not None:
            self.websocket.lost()
        if self.call is not None:
            self.call.leave()
        self.reader.forget()
        self.server.one_less()

    def data_received(self, data: bytes) -> None:
        if self.websocket is not None:
            self.websocket.feed(data)
        elif not self.is_deaf:
            self._has_begun = True
            self.reader.take(data)

    def eof_received(self) -> bool:
        """A client may end its side after its last request; it is answered all the same, but for a stream."""
        self.is_closing = self.is_deaf = True
        if self.websocket is not None or self.call is None:
            return False
        if not self.call.request.is_whole or self.call.is_lasting:
            self.call.leave()
        return True

    def pause_writing(self) -> None:
        if self.drained is None:
            self.drained = self.loop.create_future()
        self._patience.begin(self.register.now)
        self._acked = self._taken_by_client()
        self.turn()

    def resume_writing(self) -> None:
        drained, self.drained = self.drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)
        self.turn()

    # What the reader finds

    def head_begins(self) -> None:
        if self.call is None:
            self._patience.begin(self.register.now)

    def body_begins(self, request: Request) -> None:
        self._patience.begin(self.register.now)
        if self._is_proxy:
            self._caller_of(request)
        self.got_on()
        self.begin()

    def got_on(self) -> None:
        """Something substantial has come: among those that are waited for it is the last again."""
        if self.is_waiting:
            self.register.wait_for(self)

    def unreadable(self, answer: bytes, reason: str) -> None:
        if not self.is_closing:
            self.register.count(reason)
        self.is_closing = self.is_deaf = True
        call = self.call
        if call is not None and not call.request.is_whole:
            call.refuse(Malformed())
        elif call is None:
            self.write(answer)
            self._end()

    # Answering them

    def begin(self) -> None:
        """Start on the next request if it is its turn and enough of it is here."""
        if self.call is not None or self.websocket is not None:
            return
        if self.reader.line:
            self._start(self.reader.line.popleft())
        elif self.reader.request is not None and self._is_ready(self.reader.request):
            self._start(self.reader.request)

    def _is_ready(self, request: Request) -> bool:
        return request.size >= STEP or request.expects or request.length > self.register.limits.max_body

    def _start(self, request: Request, refusal: Problem | None = None) -> None:
        client = self._caller_of(request) if self._is_proxy else self.client
        if self._crowded is not None and not _may_pass(request):
            refusal = refusal or self._crowded
            self.register.count("crowded" if refusal.status == 503 else "crowded_address")
        if request.is_upgrade and refusal is None:
            scope = request.scope("websocket", client, self.server.address)
            self.websocket = self.server.websocket(self, request, scope)
            return
        scope = request.scope("http", client, self.server.address)
        if refusal is not None:
            scope["refusal"] = refusal
            self.close_after()
        self.call = call = Call(self, request, scope)
        if refusal is not None:
            call.leave()
        turns = self.server.turns
        if turns.is_free():
            call.task = self.loop.create_task(self._run(call))
        else:
            turns.wait(self._rank(request), client[0], partial(self._begin_call, call))

    def _caller_of(self, request: Request) -> tuple[str, int]:
        """Who asks through a proxy; until they are answered they are counted like one who has come by themselves."""
        address = self.server.proxies.caller(self.client[0], request.headers)
        if self._entered is None:
            self._enter(address)
        return address, 0

    def _rank(self, request: Request) -> int:
        if self.is_known:
            return KNOWN
        return CREDENTIALS if _may_pass(request) else STRANGER

    def _begin_call(self, call: Call) -> None:
        if self.is_gone:
            self.call = None
        else:
            call.task = self.loop.create_task(self._run(call))

    async def _run(self, call: Call) -> None:
        try:
            await self.server.app(call.scope, call.receive, call.send)
        except ClientGone:
            pass
        except Exception as error:  # noqa: BLE001 - one request's fault is not the others'
            if not self.is_gone:  # else it is most likely what the framework makes of that
                _log.error("request.broken", exc_info=error)
        finally:
            call.forget()
        if self.is_gone:
            self.call = None
        elif not call.is_done:
            self.is_closing = True
            if not call.is_started:
                self.write(wire.FAILED)
            self.answered(call)

    def may_stay(self, request: Request) -> bool:
        """Whether the connection is used again after this request is answered."""
        return request.keep_alive and request.is_whole and (not self.is_closing or bool(self.reader.line))

    def close_after(self) -> None:
        self.is_closing = True
        self.reader.drop()

    def answered(self, call: Call) -> None:
        self.call = None
        self.is_known = self.is_known or "known" in call.scope
        if self._is_proxy:
            self._leave()
        if not self.may_stay(call.request):
            self._end(lingers=not call.request.is_whole)
            return
        self._patience.begin(self.register.now)
        self.begin()
        self.reader.go_on()
        self._resume()
        self.turn()

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    def unsent(self) -> int:
        """How much the system has not taken yet, because the client does not read."""
        return 0 if self.is_gone else int(self.transport.get_write_buffer_size())

    def expect_acknowledgements(self) -> None:
        sockets.expect_acknowledgements(self.transport)

    def body_taken(self) -> None:
        if self._is_paused:
            self._resume()
            self.turn()

    def pause(self) -> None:
        if not self._is_paused and not self.transport.is_closing():
            self._is_paused, self._paused_at = True, self.register.now
            self.transport.pause_reading()

    def _resume(self) -> None:
        is_held = (
            self.reader.line
            or self.reader.rest
            or (self.reader.request is not None and len(self.reader.request.body) > MOST_HELD)
        )
        if self._is_paused and not is_held and not self.transport.is_closing():
            self._is_paused = False
            self._patience.skip(self._paused_at, self.register.now)
            self.transport.resume_reading()

    # Whose turn it is, and for how long

    def _enter(self, address: str) -> None:
        self._entered = address
        self._crowded = self.register.enter(self, address) or self.register.full()

    def _leave(self) -> None:
        if self._entered is not None:
            self.register.leave(self, self._entered)
            self._entered = None

    def turn(self) -> None:
        if self.is_gone or self._parted:
            return
        if self.reader.line:
            self.pause()
        call = self.call
        is_theirs = (
            call is None or self.drained is not None or not (call.request.is_whole or self._is_paused)
        ) and self.websocket is None
        if is_theirs and not self.is_waiting:
            self.register.wait_for(self)
        elif not is_theirs and self.is_waiting:
            self.register.work_on(self)

    def overdue(self, now: float) -> str:
        limits = self.register.limits
        if self.websocket is not None:
            return self.websocket.overdue(now)
        request = self.call.request if self.call is not None else self.reader.request
        if self.drained is not None or (self.is_closing and request is None):
            return "slow_reader" if self._patience.is_over(now, self._taken_by_client() - self._acked) else ""
        if request is not None:
            is_long = self.call is not None and self.call.is_long
            is_over = not is_long and now - self._patience.since > limits.body_seconds
            return "slow_body" if is_over or self._patience.is_over(now, request.size) else ""
        if self.reader.in_head or not self._has_begun:
            return "slow_head" if now - self._patience.since > limits.head_seconds else ""
        idle = limits.known_idle_seconds if self.is_known or self._is_proxy else limits.idle_seconds
        return "idle" if now - self._patience.since > idle else ""

    def _taken_by_client(self) -> int:
        """How much of what was written has reached the other side."""
        waiting = int(self.transport.get_write_buffer_size())
        return self._written - waiting - sockets.unacknowledged(self.transport)

    def give_way(self, reason: str, problem: Problem) -> None:
        """Go; whoever has said what they want is told why."""
        if self._parted or self.is_gone:
            return
        if reason != "idle":
            self.register.count(reason)
        is_asked = self.call is not None or self.reader.request is not None
        is_begun = is_asked or self.reader.in_head
        self._told = is_begun and self.drained is None and not self.is_deaf and self.register.may_tell()
        self.register.part(tells=self._told)
        self._parted = self.is_closing = self.is_deaf = True
        self._forget()
        if self.websocket is not None:
            self.websocket.end(1013)
        elif self._told and is_asked:
            self._tell(problem)
        elif is_asked or self.drained is not None:
            self.cut()
        else:
            if self.reader.in_head or (not self._has_begun and reason != "slow_head"):
                self.write(wire.REFUSALS[problem.status])
            self._end(lingers=self._told)

    def _tell(self, problem: Problem) -> None:
        self.loop.call_later(TELL_SECONDS, self.cut)
        if self.call is None and self.reader.request is not None:
            self._start(self.reader.request, problem)
        elif self.call is not None and not self.call.refuse(problem):
            self.cut()

    def tasks(self) -> list[asyncio.Task[None]]:
        owner = self.call or self.websocket
        return [owner.task] if owner is not None and owner.task is not None else []

    def finish(self) -> None:
        """The server stops: what is under way is answered, nothing more is begun."""
        self.close_after()
        if self.websocket is not None:
            self.websocket.end(1001)
        elif self.call is not None and self.call.is_lasting:
            self.call.leave()
        elif self.call is None and self.reader.request is None:
            self._end()

    def _end(self, *, lingers: bool = False) -> None:
        """Close it; where a body is still coming, only our side, so that the client lives to read the answer."""
        self.is_closing = True
        self._patience.begin(self.register.now)
        self._acked = self._taken_by_client()
        self.turn()
        if lingers or (self._parted and self.transport.get_write_buffer_size()):
            self.loop.call_later(TELL_SECONDS, self.cut)
        if lingers and self.transport.can_write_eof() and not self.transport.is_closing():
            self.is_deaf = True
            if self._is_paused:
                self._is_paused = False
                self.transport.resume_reading()
            self.transport.write_eof()
        else:
            self.transport.close()

    def cut(self) -> None:
        """End it at once."""
        if not self.is_gone:
            sockets.forget_unread(self.transport)
            self.transport.abort()

    def _forget(self) -> None:
        self.register.work_on(self)
        self._leave()


def _may_pass(request: Request) -> bool:
    """The last places are for those who bring a sign of being known, and for whoever asks whether we are alive."""
    return bool(request.header(b"authorization") or request.header(b"cookie")) or request.path == b"/health"
