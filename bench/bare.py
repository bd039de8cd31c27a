"""The baselines: applications that do next to nothing, on the same server with the same options as Kith.

`ok PORT` answers two letters. `records PORT FILE` reads a list that Kith answered and encodes its records anew
for every request, as any server must.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

App = Callable[[Any, Any, Any], Awaitable[None]]


def app_of(answer: Callable[[], bytes], media_type: bytes) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401, ARG001
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


def ok() -> App:
    return app_of(lambda: b"ok", b"text/plain")


def records(file: Path) -> App:
    # Loaded only for this one: the other baseline shows what a server weighs without Kith.
    envelope = importlib.import_module("kith.base.paging").Envelope
    record = importlib.import_module("kith.identity.users.entities").UserRecord
    listed = msgspec.json.decode(file.read_bytes(), type=envelope[record])
    encode = msgspec.json.Encoder().encode
    return app_of(lambda: encode(listed), b"application/json")


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
    which, port = sys.argv[1:3]
    uvloop.run(serve(ok() if which == "ok" else records(Path(sys.argv[3])), int(port)))
