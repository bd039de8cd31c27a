"""The application behind the gateway, `bench.gateway_upstream PORT`: two letters, and as many bytes as one likes."""

from __future__ import annotations

import sys
from typing import Any

import uvloop

from bench.bare import serve

PIECE = bytes(1 << 16)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/take` reads the body and says how long it was, `/give?BYTES` answers with so many."""
    if scope["type"] == "websocket":
        await _take_messages(receive, send)
        return
    if scope["path"] == "/give":
        await _give(int(scope["query_string"]), send)
        return
    size, more = 0, scope["path"] == "/take"
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"%d" % size if size else b"ok"
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain"), length]})
    await send({"type": "http.response.body", "body": body})


async def _give(left: int, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % left)]})
    while left > len(PIECE):
        await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        left -= len(PIECE)
    await send({"type": "http.response.body", "body": PIECE[:left]})


async def _take_messages(receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    size = 0
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") is not None:
            await send({"type": "websocket.send", "text": str(size)})
        size += len(message.get("bytes") or b"")


if __name__ == "__main__":
    uvloop.run(serve(app, int(sys.argv[1])))
