"""What is said on port 80: answers to an ACME server, and to everybody else where the encrypted server is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kith.base.acme.folder import TlsFolder

__all__ = ["PlainHttp"]

CHALLENGE = "/.well-known/acme-challenge/"
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
_NOT_YET = b"The certificate of this server is being ordered. Come back in a minute.\n"


class PlainHttp:
    """An ASGI application. Who names a host that is not ours is sent to the public address."""

    def __init__(self, folder: TlsFolder, base_url: str, hosts: list[str], is_ready: Callable[[], bool]) -> None:
        self._folder = folder
        self._base_url = base_url
        self._hosts = frozenset(hosts)
        self._is_ready = is_ready

    async def __call__(self, scope: dict[str, Any], _receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        status, headers, body = self._answer(scope)
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _answer(self, scope: dict[str, Any]) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        path: str = scope["path"]
        if path.startswith(CHALLENGE):
            answer = self._folder.find_answer(path.removeprefix(CHALLENGE))
            if answer is None:
                return 404, [_TEXT], b""
            return 200, [(b"content-type", b"application/octet-stream")], answer
        if not self._is_ready():
            return 503, [_TEXT, (b"retry-after", b"30")], _NOT_YET
        target = b"/" + (scope.get("raw_path") or path.encode()).removeprefix(b"/")  # nothing else extends the host
        if scope["query_string"]:
            target += b"?" + scope["query_string"]
        status = 301 if scope["method"] in ("GET", "HEAD") else 308
        return status, [(b"location", self._origin(scope).encode() + target)], b""

    def _origin(self, scope: dict[str, Any]) -> str:
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1").partition(":")[0].lower()
        return f"https://{host}" if host in self._hosts and f"//{host}:" not in self._base_url else self._base_url
