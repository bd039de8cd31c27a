"""WebSockets in proxy mode: once the application has said yes, bytes go to and fro as they are."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.base.exchange import Exchange, Receive
from kith.base.server import wire
from kith.base.server.call import ClientGone
from kith.identity.gateway import headers
from kith.identity.gateway.decisions import Admitted
from kith.identity.gateway.gateways import Gateway
from kith.identity.gateway.open_entries import OpenEntries, OpenEntry
from kith.identity.gateway.proxy import BadGateway, LateGateway, request_head, upstream_of
from kith.identity.gateway.upstream.connection import UpstreamAnswer, UpstreamConnection, UpstreamFailed
from kith.identity.gateway.upstream.pool import UpstreamPool

__all__ = ["pass_socket_on"]

MOST_REFUSAL = 1 << 20  # of the application's answer instead of a socket
NOT_ALLOWED = 1008  # RFC 6455: the reason is a policy
_UPGRADE = b"connection: Upgrade\r\nupgrade: websocket\r\n"


async def pass_socket_on(exchange: Exchange, receive: Receive, gateway: Gateway, admitted: Admitted | None) -> None:
    pool, upstream = exchange.find(UpstreamPool), upstream_of(gateway, admitted)
    head = request_head(exchange, gateway, upstream, admitted, _UPGRADE)
    connection: UpstreamConnection | None = None
    tunnel: _Tunnel | None = None
    try:
        connection = await pool.connect(upstream)
        tunnel = _Tunnel(exchange, receive, connection, admitted)
        connection.ask(head, wants_socket=True)
        answer = await connection.answer()
        if answer.status == 101:
            await tunnel.run(answer)
        else:
            await _hand_refusal_on(exchange, connection, answer)
    except UpstreamFailed as failed:
        if tunnel is not None and tunnel.is_left:
            raise ClientGone from failed
        raise LateGateway if failed.is_late else BadGateway from failed
    finally:
        if tunnel is not None:
            tunnel.close()
        if connection is not None:
            pool.drop(connection)


async def _hand_refusal_on(exchange: Exchange, connection: UpstreamConnection, answer: UpstreamAnswer) -> None:
    body = answer.body
    while not answer.is_whole and len(body) < MOST_REFUSAL and (piece := await connection.piece()):
        body += piece
    passed = [one for one in headers.from_upstream(answer.headers) if one[0] != b"content-length"]
    passed.append((b"content-length", b"%d" % len(body)))
    exchange.status = answer.status
    await exchange.send({"type": "websocket.http.response.start", "status": answer.status, "headers": passed})
    await exchange.send({"type": "websocket.http.response.body", "body": body})


class _Tunnel:
    """From the wish for a socket on: an application may take long to say yes, and nobody waits for one who has left."""

    def __init__(
        self, exchange: Exchange, receive: Receive, connection: UpstreamConnection, admitted: Admitted | None
    ) -> None:
        self._exchange = exchange
        self._receive = receive
        self._connection = connection
        self._admitted = admitted
        self._socket: Any = exchange.scope["extensions"]["kith.socket"]
        self._filling: asyncio.Task[None] | None = None
        self.is_left = False
        self._leaving = asyncio.get_running_loop().create_task(self._until_left())

    def close(self) -> None:
        self._leaving.cancel()

    async def run(self, answer: UpstreamAnswer) -> None:
        entry = OpenEntry(self._admitted.login, self._end) if self._admitted is not None else None
        entries = self._exchange.find(OpenEntries)
        self._exchange.status = 101
        self._socket.pass_on(_head(answer), self._take)
        if entry is not None:
            entries.add(entry)
        try:
            if answer.body:
                await self._socket.write(answer.body)
            while piece := await self._connection.piece():
                await self._socket.write(piece)
            self._socket.part()
        except (ClientGone, UpstreamFailed):
            self._socket.part()
        finally:
            if self._filling is not None:
                self._filling.cancel()
            if entry is not None:
                entries.discard(entry)

    def _take(self, data: bytes) -> None:
        """From the browser to the application; while that takes nothing, nothing is read."""
        if not self._connection.write_now(data) and self._filling is None:
            self._socket.hold(still=True)
            self._filling = asyncio.get_running_loop().create_task(self._until_taken())

    async def _until_taken(self) -> None:
        await self._connection.until_drained()
        self._filling = None
        self._socket.hold(still=False)

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass
        self.is_left = True
        self._connection.abort()

    def _end(self) -> None:
        self._socket.part(last=wire.close_frame(NOT_ALLOWED))
        self._connection.abort()


def _head(answer: UpstreamAnswer) -> bytes:
    """What the application said to the browser's wish for a socket."""
    passed = wire.header_lines(headers.from_upstream(answer.headers))
    return wire.status_line(101) + b"connection: Upgrade\r\nupgrade: websocket\r\n" + passed + b"\r\n"
