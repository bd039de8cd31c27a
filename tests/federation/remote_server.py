"""Another server on the loopback interface, whose answers a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.federation.neighbours.sample import AS, PEM

__all__ = ["ACTIVITY", "RemoteServer", "remote_server"]

ACTIVITY = "application/activity+json; charset=utf-8"


class RemoteServer:
    def __init__(self) -> None:
        self.asked: list[web.Request] = []
        self.enough = asyncio.Event()
        self._answers: dict[str, list[tuple[int, dict[str, str], bytes]]] = {}
        self._slow: dict[str, bytes | None] = {}
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self.server = TestServer(app)

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def url(self) -> str:
        return f"http://{self.domain}"

    @property
    def paths(self) -> list[str]:
        return [request.path_qs for request in self.asked]

    def serves(
        self,
        path: str,
        body: Any = b"",
        *,
        status: int = 200,
        type: str = ACTIVITY,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Several answers for one path come one after the other, the last of them for ever; its address."""
        raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
        self._answers.setdefault(path, []).append((status, {"Content-Type": type, **(headers or {})}, raw))
        return self.url + path

    def redirects(self, path: str, to: str, status: int = 302) -> str:
        return self.serves(path, status=status, headers={"Location": to})

    def dawdles(self, path: str, beginning: bytes | None) -> str:
        """Says the beginning of an answer, or not even that, and falls silent."""
        self._slow[path] = beginning
        return self.url + path

    def serves_actor(self, name: str, **changes: Any) -> str:
        uri = f"{self.url}/users/{name}"
        document = {
            "@context": AS,
            "id": uri,
            "type": "Person",
            "preferredUsername": name,
            "inbox": f"{uri}/inbox",
            "publicKey": {"id": f"{uri}#main-key", "owner": uri, "publicKeyPem": PEM},
        }
        return self.serves(f"/users/{name}", document | changes)

    def serves_webfinger(self, name: str, actor: str, subject: str | None = None, domain: str | None = None) -> None:
        handle = f"{name}@{domain or self.domain}"
        links = [{"rel": "self", "type": "application/activity+json", "href": actor}]
        self.serves(
            f"/.well-known/webfinger?resource=acct:{handle}",
            {"subject": f"acct:{subject or handle}", "links": links},
            type="application/jrd+json",
        )

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        path = request.path_qs
        if path in self._slow:
            return await self._dawdle(request, self._slow[path])
        answers = self._answers.get(path, [(404, {}, b"")])
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        return web.Response(status=status, headers=headers, body=body)

    async def _dawdle(self, request: web.Request, beginning: bytes | None) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": ACTIVITY})
        if beginning is not None:
            await response.prepare(request)
            with suppress(ConnectionError):
                await response.write(beginning)
        await self.enough.wait()
        return response


@asynccontextmanager
async def remote_server() -> AsyncIterator[RemoteServer]:
    remote = RemoteServer()
    await remote.server.start_server()
    try:
        yield remote
    finally:
        remote.enough.set()
        await remote.server.close()
