"""A client's own server, which wants to hear when somebody signs out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

import jwt

from tests.identity.relying_party import RelyingParty

EVENT = "http://schemas.openid.net/event/backchannel-logout"


class Listener:
    """Keeps what it is sent, and fails as often as it is told to."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.loaded: asyncio.Queue[str] = asyncio.Queue()  # addresses, for the front channel
        self.failed = asyncio.Event()
        self.failures = 0
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(found[1]) if found else 0)
        ok = self.failures == 0
        self.failures = max(0, self.failures - 1)
        writer.write(b"HTTP/1.1 200 OK\r\n" if ok else b"HTTP/1.1 503 Not Now\r\n")
        writer.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        if ok and head.startswith("GET"):
            self.loaded.put_nowait(head.partition(" ")[2].partition(" ")[0])
        elif ok:
            self.heard.put_nowait(parse_qs(body.decode())["logout_token"][0])
        else:
            self.failed.set()

    async def next(self) -> str:
        async with asyncio.timeout(60):
            return await self.heard.get()

    async def hears(self, party: RelyingParty, *known: dict[str, Any]) -> None:
        """One logout token for each of the ID tokens `known`, in whatever order, signed for `party`."""
        told = [await read(party, await self.next()) for _ in known]
        assert sorted((one["sub"], one.get("sid", "")) for one in told) == sorted(
            (one["sub"], one.get("sid", "")) for one in known
        )
        assert self.heard.empty()


async def read(party: RelyingParty, token: str) -> dict[str, Any]:
    """The claims of a logout token, checked as a client does; also when its provider is gone."""
    header = jwt.get_unverified_header(token)
    assert header["typ"] == "logout+jwt"
    options: Any = {"algorithms": [header["alg"]], "audience": party.id, "issuer": party.issuer}
    if header["alg"] == "HS256":
        claims: dict[str, Any] = jwt.decode(token, party.secret, **options)
    else:
        keys = (await party.http.get("/application/o/jwks/")).json()["keys"]
        [key] = [one for one in keys if one["kid"] == header["kid"]]
        claims = jwt.decode(token, jwt.PyJWK(key), **options)
    assert claims["events"] == {EVENT: {}}
    assert "nonce" not in claims
    assert {"iat", "exp", "jti"} <= set(claims)
    return claims


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    made = Listener()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/backchannel"
    async with server:
        yield made
