"""A socket of the streaming API: what its client says, and what it is answered."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from kith.base.errors import Problem, Throttled
from kith.base.socket import Socket
from kith.base.work import Works
from kith.social.streaming.connections import StreamConnection
from kith.social.streaming.entry import prepare, stream_of
from kith.social.streaming.hub import Hub

__all__ = ["MOST_BYTES", "talk"]

MOST_BYTES = 4096  # of one message from a client
MOST_STREAMS = 100  # of one socket
MOST_IN_A_SECOND = 60
NOT_TEXT, TOO_MUCH = 1003, 1008

_encode = msgspec.json.Encoder().encode


async def talk(hub: Hub, works: Works, connection: StreamConnection, socket: Socket) -> None:
    """Until the client has gone, or has to."""
    second, count = 0, 0
    while (message := await socket.receive()) is not None:
        if isinstance(message, bytes):
            hub.close(connection, NOT_TEXT, "text only")
            return
        if int(time.monotonic()) != second:
            second, count = int(time.monotonic()), 0
        count += 1
        if count > MOST_IN_A_SECOND:
            hub.close(connection, TOO_MUCH, "too many messages")
            return
        await _answer(hub, works, connection, message)


async def _answer(hub: Hub, works: Works, connection: StreamConnection, message: str) -> None:
    """What cannot be read, or asks for something unknown, is passed over, as Mastodon does."""
    try:
        asked = msgspec.json.decode(message, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return
    if asked.get("type") not in ("subscribe", "unsubscribe"):
        return
    try:
        await _do(hub, works, connection, asked)
    except Problem as problem:
        connection.say(refusal_of(problem))


async def _do(hub: Hub, works: Works, connection: StreamConnection, asked: dict[str, Any]) -> None:
    stream = stream_of(asked)
    if asked["type"] == "unsubscribe":
        hub.unsubscribe(connection, stream)
        return
    if stream in connection.subscriptions:
        return
    if len(connection.subscriptions) >= MOST_STREAMS:
        raise Throttled(30)
    async with works.begin() as work:
        channels = await prepare(work, connection.listener, stream)
    hub.subscribe(connection, stream, channels)


def refusal_of(problem: Problem) -> bytes:
    return _encode({"error": problem.message, "status": problem.status})
