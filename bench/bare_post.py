"""The baseline of whatever takes something in, `bench.bare_post PORT`: the whole body is read, and nothing is done."""

from __future__ import annotations

import sys
from typing import Any

import uvloop

from bench.bare import serve

_HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"0")]


async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
    is_whole = False
    while not is_whole:
        message = await receive()
        is_whole = not message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": b""})


if __name__ == "__main__":
    uvloop.run(serve(app, int(sys.argv[1])))
