"""The first baseline, `bench.bare PORT`: two letters, on the same server with the same options as Kith."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvloop

from kith.base.server import ConnectionLimits, HttpServer, listen

App = Callable[[Any, Any, Any], Awaitable[None]]


def app_of(answer: Callable[[], bytes], media_type: bytes) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
        body = answer()
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", media_type), (b"content-length", b"%d" % len(body))],
            }
        )
        await send({"type": "http.response.body", "body": body})

    return app


async def serve(app: App, port: int) -> None:
    """As `kith.cli.serve` does."""
    server = HttpServer(app, listen("127.0.0.1", port, shared=False), ConnectionLimits(per_address=0))
    stopping = asyncio.Event()
    for word in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(word, stopping.set)
    await server.start()
    await stopping.wait()
    await server.stop(1)


if __name__ == "__main__":
    uvloop.run(serve(app_of(lambda: b"ok", b"text/plain"), int(sys.argv[1])))
