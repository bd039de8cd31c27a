"""One HTTP/1.1 connection: its requests one after the other, and what is told to whoever keeps the server waiting."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from kith.base.counted_log import log_counted
from kith.base.errors import Malformed, Problem
from kith.base.server import wire
from kith.base.server.call import Call, ClientGone, Request
from kith.base.server.proxies import plain
from kith.base.server.reader import STEP, Reader
from kith.base.server.timed_connection import TELL_SECONDS, TimedConnection
from kith.base.server.turns import CREDENTIALS, KNOWN, STRANGER

if TYPE_CHECKING:
    from kith.base.server.listening import HttpServer

__all__ = ["HttpConnection"]


class HttpConnection(TimedConnection):
    __slots__ = ()

    def __init__(self, server: HttpServer) -> None:
        super().__init__(server)
        self.reader = Reader(self)

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
        self.is_proxy = self.server.proxies.is_one(self.client[0])
        if not self.is_proxy:
            self._enter(self.client[0])
        self._patience.begin(self.register.now)
        self.register.wait_for(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self not in self.server.open:
            return
        self.server.open.discard(self)
        self._forget()
        self.register.has_read(self)
        self.register.close(parted=self._parted, told=self._told)
        self.is_gone = True
        if self.drained is not None and not self.drained.done():
            self.drained.set_result(None)
        if self.websocket is not None:
            self.websocket.lost()
        if self.call is not None:
            self.call.leave()
        self.reader.forget()
        self.server.one_less()

    def data_received(self, data: bytes) -> None:
        if self.websocket is not None:
            self.websocket.feed(data)
        elif self.is_deaf:
            self.ignore(data)
        else:
            self._has_begun = True
            self.reader.take(data)

    def eof_received(self) -> bool:
        """A client may end its side after its last request; it is answered all the same, but for a stream."""
        self.is_closing = self.is_deaf = True
        if self.websocket is not None or self.call is None:
            return False
        if not self.call.request.is_whole or self.call.is_lasting:
            self.call.leave()
        return bool(self.transport.can_write_eof())  # TLS has no half of a connection

    def pause_writing(self) -> None:
        if self.drained is None:
            self.drained = self.loop.create_future()
        self._patience.begin(self.register.now)
        self._acked = self._taken_by_client()
        if self.websocket is not None:
            self.websocket.mind_reading()
        self.turn()
        self.register.leaves_unread(self)

    def resume_writing(self) -> None:
        self.register.has_read(self)
        drained, self.drained = self.drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)
        if self.websocket is not None:
            self.websocket.taken()
        self.turn()

    # What the reader finds

    def head_begins(self) -> None:
        if self.call is None:
            self._patience.begin(self.register.now)

    def body_begins(self, request: Request) -> None:
        self._patience.begin(self.register.now)
        if self.is_proxy:
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
            self._end(lingers=self._is_paused)  # else what it has sent meanwhile would end it before the answer is read

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
        client = self._caller_of(request) if self.is_proxy else self.client
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
        if turns.is_free(client[0]):
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
                log_counted("error", "request.broken", error=error)
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
        if self.is_proxy:
            self._leave()
        if not self.may_stay(call.request):
            self._end(lingers=not call.request.is_whole or call.request.leaves_unread)
            return
        self._patience.begin(self.register.now)
        self.begin()
        self.reader.go_on()
        self._resume()
        self.turn()

    # Its end

    def give_way(self, reason: str, problem: Problem) -> None:
        if self._parted or self.is_gone:
            return
        if reason != "idle":
            self.register.count(reason)
        is_asked = self.call is not None or self.reader.request is not None
        is_begun = is_asked or self.reader.in_head
        has_been_told = self.is_deaf  # it only lives to read what was said to it
        self._told = is_begun and self.drained is None and not self.is_deaf and self.register.may_tell()
        self.register.part(tells=self._told)
        self._parted = self.is_closing = self.is_deaf = True
        self._forget()
        if self.websocket is not None and self.drained is None:
            self.websocket.end(1013)
        elif self._told and is_asked:
            self._tell(problem)
        elif is_asked or self.drained is not None:
            self.cut()
        else:
            if not has_been_told and (self.reader.in_head or (not self._has_begun and reason != "slow_head")):
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

    def end_lasting(self) -> None:
        """What goes on until somebody ends it, is ended."""
        if self.websocket is not None:
            self.websocket.end(1001)
        elif self.call is not None and self.call.is_lasting:
            self.call.leave()

    @property
    def is_owed(self) -> bool:
        """Whether an answer is under way, or its client has come and was never answered."""
        is_asking = self.call is not None or self.reader.request is not None or self.reader.in_head
        return not self.is_closing and (is_asking or not self._has_begun)

    def finish(self) -> None:
        """The server stops: what is under way is answered, nothing more is begun."""
        self.close_after()
        self.end_lasting()
        if self.websocket is None and self.call is None and self.reader.request is None:
            self._end()


def _may_pass(request: Request) -> bool:
    """The last places are for those who bring a sign of being known, and for whoever asks whether we are alive."""
    return bool(request.header(b"authorization") or request.header(b"cookie")) or request.path == b"/health"
