"""Proxies of others in front of a server of ours, each with the example we ship and one header more: every request
that a proxy passes on carries a name that the proxy gave it, and the host that it was passed on for."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from tests.identity.gateway.servers import caddy, haproxy, nginx
from tests.town.ports import ReservedPort

__all__ = ["FRONTS", "Front"]

PROXIES = Path(__file__).parents[2] / "deploy" / "proxies"

Front = Callable[[Path, str], AbstractAsyncContextManager[int]]


@asynccontextmanager
async def nginx_front(folder: Path, upstream: str) -> AsyncIterator[int]:
    with ReservedPort() as port, ReservedPort() as plain:
        text = (PROXIES / "nginx.conf").read_text()
        text = re.sub(r"( ssl http2|ssl_.*;|listen \[::\].*)", "", text).replace(
            "/var/cache/nginx/kith", f"{folder}/cache"
        )
        text = text.replace("listen 443", f"listen 127.0.0.1:{port.number}").replace(
            "listen 80", f"listen 127.0.0.1:{plain.number}"
        )
        text = text.replace("127.0.0.1:8000", upstream)
        text = text.replace("proxy_set_header Host $host;", 'proxy_set_header Host $host; proxy_set_header X-Front "$request_id $host";')  # fmt: skip
        async with nginx(folder, text, port.number):
            yield port.number


@asynccontextmanager
async def caddy_front(folder: Path, upstream: str) -> AsyncIterator[int]:
    with ReservedPort() as port:
        text = (PROXIES / "Caddyfile").read_text().replace("{$KITH_HOST:social.example.org}", f"http://:{port.number}")
        named = f'reverse_proxy {upstream} {{\nheader_up X-Front "{{http.request.uuid}} {{http.request.hostport}}"\n'
        text = re.sub(r"reverse_proxy \{\$KITH_UPSTREAM:127.0.0.1:8000\} \{\n", named, text)
        text = re.sub(r"reverse_proxy \{\$KITH_UPSTREAM:127.0.0.1:8000\}\n", f"{named}}}\n", text)
        async with caddy(folder, text, port.number):
            yield port.number


@asynccontextmanager
async def haproxy_front(folder: Path, upstream: str) -> AsyncIterator[int]:
    with ReservedPort() as port, ReservedPort() as plain:
        text = (PROXIES / "haproxy.cfg").read_text().replace("bind :80", f"bind 127.0.0.1:{plain.number}")
        text = re.sub(r"bind :443 ssl .*", f"bind 127.0.0.1:{port.number}", text).replace(
            "127.0.0.1:8000 check", upstream
        )
        text = text.replace("option httpchk GET /health", 'http-request set-header X-Front "%[uuid] %[req.hdr(Host)]"')
        async with haproxy(folder, text, port.number):
            yield port.number


FRONTS: dict[str, Front] = {"nginx": nginx_front, "caddy": caddy_front, "haproxy": haproxy_front}
