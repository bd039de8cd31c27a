"""The baseline of streams, `bench.bare_streams PORT`: what is posted is written to those who listen, and no more."""

from __future__ import annotations

import sys
from typing import Any

import uvloop

from bench.bare import serve
from kith.base.server.wire import chunk

_open: set[Any] = set()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """GET /listen and GET /idle stay open; a POST goes to all who listen; anything else gets two letters."""
    path = scope["path"]
    body = b"ok"
    if path in ("/listen", "/idle"):
        await _stay(scope, receive, send, is_told=path == "/listen")
        return
    if scope["method"] == "POST":
        piece = chunk(b"event: update\ndata: %b\n\n" % (await receive())["body"])
        for pipe in _open:
            pipe.push(piece)
    head = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def _stay(scope: Any, receive: Any, send: Any, *, is_told: bool) -> None:
    pipe = scope["extensions"]["kith.pipe"]
    pipe.stay()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b":)\n", "more_body": True})
    if is_told:
        _open.add(pipe)
    while (await receive())["type"] != "http.disconnect":
        pass
    _open.discard(pipe)
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    uvloop.run(serve(app, int(sys.argv[1])))
