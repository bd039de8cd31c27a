"""Proxy mode: requests passed on to the application, bodies in both directions as they come."""

from __future__ import annotations

import asyncio

from kith.base.counted_log import log_counted
from kith.base.errors import NotFound, Problem
from kith.base.exchange import Exchange, Receive
from kith.base.server.call import ClientGone
from kith.identity.gateway import headers
from kith.identity.gateway.additional_names import AdditionalNames
from kith.identity.gateway.decisions import Admitted
from kith.identity.gateway.gateways import Gateway
from kith.identity.gateway.open_entries import OpenEntries, OpenEntry
from kith.identity.gateway.paths import climbs
from kith.identity.gateway.upstream.connection import UpstreamAnswer, UpstreamConnection, UpstreamFailed
from kith.identity.gateway.upstream.pool import Upstream, UpstreamPool, read_upstream

__all__ = ["BadGateway", "LateGateway", "pass_on", "request_head", "upstream_of"]

WATCH_SECONDS = 1.0  # after which it is noticed that the browser has gone, or its person may not enter any more
_PRIVATE = (b"cache-control", b"private")  # for what was let through to one person, and says nothing of caches
_REPEATABLE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))


class BadGateway(Problem):
    status = 502
    code = "bad_gateway"
    message = "The application behind this address cannot be reached"


class LateGateway(Problem):
    status = 504
    code = "gateway_timeout"
    message = "The application behind this address does not answer"


def upstream_of(gateway: Gateway, admitted: Admitted | None) -> Upstream:
    if admitted is not None and admitted.upstream is not None:
        return admitted.upstream
    found = read_upstream(gateway.internal_host, verifies=gateway.verifies_tls, is_guarded=False)
    if found is None:
        raise BadGateway
    return found


def request_head(
    exchange: Exchange, gateway: Gateway, upstream: Upstream, admitted: Admitted | None, framing: bytes
) -> bytes:
    """The request as the application gets it. `framing` are lines about its body, or its wish for a socket."""
    scope = exchange.scope
    target = scope["raw_path"]
    if upstream.path:
        if climbs(target.decode("latin-1")):
            raise NotFound  # it could lead out of the part of the host that the gateway is for
        target = upstream.path.encode() + target
    if scope["query_string"]:
        target += b"?" + scope["query_string"]
    host = admitted.host.encode() if admitted is not None and admitted.host else upstream.netloc
    without_login = admitted is not None and gateway.takes_header_login and not admitted.login.id_token
    taken = exchange.find(AdditionalNames).plain
    if admitted is not None:
        taken |= admitted.names
    sent = headers.for_upstream(scope["headers"], without_login=without_login, taken=taken)
    lines = [b"%b %b HTTP/1.1\r\nhost: %b\r\n" % (_method(exchange), target, host)]
    if admitted is not None:
        lines.append(admitted.lines)
    lines += [b"%b: %b\r\n" % one for one in sent]
    lines.append(
        b"x-forwarded-for: %b\r\nx-real-ip: %b\r\nx-forwarded-host: %b\r\nx-forwarded-proto: %b\r\n"
        % (exchange.address.encode(), exchange.address.encode(), exchange.header(b"host"), gateway.scheme.encode())
    )
    return b"".join((*lines, framing, b"\r\n"))


def _method(exchange: Exchange) -> bytes:
    return b"GET" if exchange.is_socket else exchange.scope["method"].encode()


async def pass_on(exchange: Exchange, receive: Receive, gateway: Gateway, admitted: Admitted | None) -> None:
    """Ask the application and hand its answer on. The exchange's work has ended before.

    Bodies are taken from `receive` itself: how large they may be is the application's matter.
    """
    upstream = upstream_of(gateway, admitted)
    first, more, framing = b"", False, b""
    if exchange.has_body:
        exchange.scope["extensions"]["kith.pipe"].take_long()
        message = await receive()
        first, more, framing = message.get("body", b""), message.get("more_body", False), _framing(exchange)
    head = request_head(exchange, gateway, upstream, admitted, framing)
    request = head + _framed(exchange, first, is_last=not more)
    await _Passage(exchange, receive, upstream, request, admitted).run(more=more)


def _framing(exchange: Exchange) -> bytes:
    """One way only of saying how long the body is: ours. Two could be read as two requests."""
    length = exchange.header(b"content-length")
    if exchange.header(b"transfer-encoding"):
        return b"transfer-encoding: chunked\r\n"
    return b"content-length: %d\r\n" % int(length)


def _framed(exchange: Exchange, data: bytes, *, is_last: bool) -> bytes:
    if not exchange.header(b"transfer-encoding"):
        return data
    piece = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
    return piece + b"0\r\n\r\n" if is_last else piece


def _told(upstream: Upstream, failed: UpstreamFailed) -> Problem:
    host = upstream.netloc.decode()
    log_counted("warning", "gateway.upstream_failed", host, upstream=host, cause=str(failed))
    return LateGateway() if failed.is_late else BadGateway()


class _Passage:
    """One answer on its way from the application to the browser, and what is left of the request the other way."""

    def __init__(
        self, exchange: Exchange, receive: Receive, upstream: Upstream, request: bytes, admitted: Admitted | None
    ) -> None:
        self._exchange = exchange
        self._receive = receive
        self._upstream = upstream
        self._request = request  # its head, and its body if that is whole
        self._admitted = admitted
        self._pool = exchange.find(UpstreamPool)
        self._connection: UpstreamConnection | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._entry: OpenEntry | None = None
        self._is_uploaded = True
        self._is_left = False
        self._is_watched = False

    async def run(self, *, more: bool) -> None:
        loop = asyncio.get_running_loop()
        timer = loop.call_later(WATCH_SECONDS, self._watch)
        is_done = False
        try:
            answer = await self._answer(more=more)
            await self._hand_on(answer)
            is_done = True
        finally:
            timer.cancel()
            for task in self._tasks:
                task.cancel()
            if self._entry is not None:
                self._exchange.find(OpenEntries).discard(self._entry)
            if self._connection is not None:
                if is_done and self._is_uploaded:
                    self._pool.give_back(self._upstream, self._connection)
                else:
                    self._pool.drop(self._connection)

    async def _answer(self, *, more: bool) -> UpstreamAnswer:
        """Over a connection that was kept, if there is one. It may have ended at the other side just now: then what
        may arrive twice is sent again over a new one."""
        method = self._exchange.scope["method"]
        may_repeat = not more and method in _REPEATABLE
        try:
            connection = self._ask(self._pool.kept(self._upstream) or await self._pool.connect(self._upstream))
            if more:
                self._is_uploaded = False
                self._tasks.append(asyncio.get_running_loop().create_task(self._upload(connection)))
            try:
                return await connection.answer()
            except UpstreamFailed as failed:
                if self._is_left or not (may_repeat and connection.used and failed.is_unheard):
                    raise
            self._pool.drop(connection)
            return await self._ask(await self._pool.connect(self._upstream)).answer()
        except UpstreamFailed as failed:
            if self._is_left:
                raise ClientGone from failed
            raise _told(self._upstream, failed) from failed

    def _ask(self, connection: UpstreamConnection) -> UpstreamConnection:
        self._connection = connection
        connection.ask(self._request, is_head=self._exchange.scope["method"] == "HEAD")
        return connection

    async def _hand_on(self, answer: UpstreamAnswer) -> None:
        exchange, send = self._exchange, self._exchange.send
        passed = headers.from_upstream(answer.headers)
        exchange.status = answer.status
        if self._admitted is not None:
            exchange.scope["known"] = True
            if not any(name == b"cache-control" for name, _ in passed):
                passed.append(_PRIVATE)
        if answer.is_whole:
            await send(
                {"type": "kith.response", "status": answer.status, "headers": passed, "lines": b"", "body": answer.body}
            )
            return
        await send({"type": "http.response.start", "status": answer.status, "headers": passed})
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
        await self._hand_on_rest()

    async def _hand_on_rest(self) -> None:
        send, connection = self._exchange.send, self._connection
        assert connection is not None  # noqa: S101 - it has answered
        try:
            while piece := await connection.piece():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except UpstreamFailed as failed:
            if not self._is_left:  # the browser must not take half an answer for the whole
                host = self._upstream.netloc.decode()
                log_counted("warning", "gateway.cut_short", host, upstream=host, cause=str(failed))
                self._exchange.scope["extensions"]["kith.pipe"].cut()
            raise ClientGone from failed
        await send({"type": "http.response.body", "body": b""})

    async def _upload(self, connection: UpstreamConnection) -> None:
        """The rest of the body, as fast as the application takes it."""
        try:
            while True:
                message = await self._receive()
                if message["type"] != "http.request":
                    self._is_left = True
                    connection.abort()  # half a body is no body
                    return
                more = message.get("more_body", False)
                await connection.write(_framed(self._exchange, message.get("body", b""), is_last=not more))
                if not more:
                    self._is_uploaded = True
                    if self._is_watched:
                        self._look_out()
                    return
        except UpstreamFailed:
            return  # what it has answered, if anything, is being read
        except Problem:
            self._is_left = True
            connection.abort()

    def _watch(self) -> None:
        """It takes a while: from now on somebody looks whether both ends are still there, and may be."""
        self._is_watched = True
        if self._is_uploaded:
            self._look_out()
        if self._admitted is not None:
            self._entry = OpenEntry(self._admitted.login, self._end)
            self._exchange.find(OpenEntries).add(self._entry)

    def _look_out(self) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(self._until_left()))

    async def _until_left(self) -> None:
        await self._exchange.until_left()
        self._end()

    def _end(self) -> None:
        self._is_left = True
        pipe = self._exchange.scope["extensions"].get("kith.pipe")
        if pipe is not None:
            pipe.cut()
        if self._connection is not None:
            self._connection.abort()
