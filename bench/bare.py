"""The first baseline, `bench.bare PORT`: two letters, on the same server with the same options as Kith."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

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
    """As `kith.cli.serve` does; an option changed there is to be changed here."""
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=15_000, max_buffer_size=64 * 1024),
        backlog=1024,
        log_enabled=False,
    )
    for word in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(word, server.stop)
    await server.serve()


if __name__ == "__main__":
    uvloop.run(serve(app_of(lambda: b"ok", b"text/plain"), int(sys.argv[1])))
