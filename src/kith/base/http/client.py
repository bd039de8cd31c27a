"""The one client through which kith calls other servers."""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import msgspec
from multidict import CIMultiDictProxy

from kith.base import traces
from kith.base.db import writing
from kith.base.http.addresses import PrivateHosts
from kith.base.http.failures import AddressRefused, OutgoingError, translated
from kith.base.http.hops import REDIRECTS, Hop, Resign, first_hop, next_hop
from kith.base.http.posting import Poster
from kith.base.http.wire import PostAnswer

if TYPE_CHECKING:
    import aiohttp  # loaded when something is first sent

__all__ = ["Download", "Outgoing", "OutsideAnswer"]

MIB = 1024 * 1024
_CHUNK = 64 * 1024

# The connector's guard is told addresses, not names; the context of the request carries the name to it.
_wanted_host: ContextVar[str] = ContextVar("wanted_host", default="")


class OutsideAnswer(msgspec.Struct, frozen=True):
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    url: str

    def json(self) -> Any:
        """The body, read as JSON; `ValueError` where it is none, or is nested too deep to be read."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError("the answer is not JSON") from error


class Download:
    """An answer whose body is still on its way: iterate once over its chunks."""

    def __init__(self, response: aiohttp.ClientResponse, max_bytes: int, shown: str) -> None:
        self._response = response
        self._max_bytes = max_bytes
        self._shown = shown
        self.status = response.status
        self.headers = response.headers
        self.url = str(response.url)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Chunks of the decompressed body; the limit counts these, so a small bomb stays small."""
        self._refuse_announced_size()
        seen = 0
        chunks = self._response.content.iter_chunked(_CHUNK).__aiter__()
        while True:
            with translated(self._shown):
                chunk = await anext(chunks, b"")
            if not chunk:
                return
            seen += len(chunk)
            if seen > self._max_bytes:
                raise OutgoingError("too_large", f"{self._shown}: more than {self._max_bytes} bytes")
            yield chunk

    def _refuse_announced_size(self) -> None:
        if self._response.method == "HEAD" or "Content-Encoding" in self.headers:
            return
        if (self._response.content_length or 0) > self._max_bytes:
            raise OutgoingError("too_large", f"{self._shown}: announces more than {self._max_bytes} bytes")


class Outgoing:
    def __init__(self, user_agent: str, private_hosts: Sequence[str] = (), *, is_traced: bool = True) -> None:
        self._is_traced = is_traced
        self._user_agent = user_agent
        self._private_hosts = PrivateHosts(private_hosts)
        self._session: aiohttp.ClientSession | None = None
        self._poster = Poster(user_agent, self._private_hosts)
        self._is_silent = False

    def silence(self) -> None:
        """From now on nothing is sent to anybody: for a server that only tries whether it would run."""
        self._is_silent = True

    async def close(self) -> None:
        await self._poster.close()
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = MIB,
        timeout: float = 10.0,  # noqa: ASYNC109 - one budget for every hop and the body
        max_redirects: int | None = 3,
        on_redirect: Resign | None = None,
    ) -> OutsideAnswer:
        """Ask and read the whole answer, within `timeout` seconds from first to last byte.

        Any status is an answer; `OutgoingError` means there was none. `on_redirect` is given the method and
        URL of the next request and returns all of its headers, which allows it to be signed anew. With
        `max_redirects` None a redirect is an answer like any other, for those who look at every hop themselves.
        """
        async with self.stream(
            method,
            url,
            headers=headers,
            body=body,
            max_bytes=max_bytes,
            timeout=timeout,
            max_redirects=max_redirects,
            on_redirect=on_redirect,
        ) as download:
            content = b"".join([chunk async for chunk in download])
            return OutsideAnswer(download.status, download.headers, content, download.url)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostAnswer:
        """A small request of which only the head of the answer matters, and which may arrive twice.

        It costs a fraction of any other: the connection is kept for the next one to the same host. `url` is as
        `checked_url` gives it; `headers` hold `host`, and are sent as they are. The times are those of `Poster`.
        """
        if self._is_silent:
            raise OutgoingError("refused_address", f"{url}: nothing is sent from here")
        with self._traced("POST", headers.get("host", "")):
            return await self._poster.post(url, headers, body)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = MIB,
        timeout: float = 10.0,  # noqa: ASYNC109
        max_redirects: int | None = 3,
        on_redirect: Resign | None = None,
    ) -> AsyncIterator[Download]:
        """Like `request`, but the body comes in chunks while the block is open."""
        deadline = asyncio.get_running_loop().time() + timeout
        hop = first_hop(method, url, headers, body)
        response = await self._send(hop, deadline)
        try:
            while max_redirects is not None and (location := _location(response)) is not None:
                response.release()
                if max_redirects <= 0:
                    raise OutgoingError("too_many_redirects", f"the last led to {hop.shown}")
                max_redirects -= 1
                hop = next_hop(hop, response.status, location, on_redirect)
                response = await self._send(hop, deadline)
            yield Download(response, max_bytes, hop.shown)
        finally:
            response.release()

    async def _send(self, hop: Hop, deadline: float) -> aiohttp.ClientResponse:
        writing.refuse(f"{hop.shown} is asked")
        if self._is_silent:
            raise OutgoingError("refused_address", f"{hop.shown}: nothing is sent from here")
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise OutgoingError("timeout", hop.shown)
        session = await self._opened()
        host = hop.url.raw_host or ""
        token = _wanted_host.set(host)
        try:
            with translated(hop.shown), self._traced(hop.method, host) as span:
                return await session.request(
                    hop.method,
                    hop.url,
                    headers=self._with_trace(hop, host, span),
                    data=hop.body,
                    allow_redirects=False,
                    timeout=_timeout(left),
                )
        finally:
            _wanted_host.reset(token)

    def _traced(self, method: str, host: str) -> AbstractContextManager[traces.Span | None]:
        return traces.outgoing(method, host) if self._is_traced else nullcontext()

    def _with_trace(self, hop: Hop, host: str, span: traces.Span | None) -> Mapping[str, str]:
        """Services of the operator's own are told what the call belongs to; strangers are not."""
        if span is None or not self._private_hosts.lists(host, hop.url.port or 0):
            return hop.headers
        return {**hop.headers, "traceparent": span.traceparent}

    async def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            await asyncio.to_thread(importlib.import_module, "aiohttp")  # it is large, and the loop is not to wait
        if self._session is None:
            self._session = self._made()
        return self._session

    def _made(self) -> aiohttp.ClientSession:
        import aiohttp  # noqa: PLC0415 - loaded by now

        connector = aiohttp.TCPConnector(
            limit=100,
            limit_per_host=8,
            resolver=aiohttp.ThreadedResolver(),
            socket_factory=self._socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent},
            trust_env=False,
        )

    def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """Called for every address about to be connected to, however it was found; the last word is here."""
        family, kind, protocol, _, (host, port, *_) = address
        if not self._private_hosts.may_reach(_wanted_host.get(), ip_address(host), port):
            raise AddressRefused
        return socket.socket(family, kind, protocol)


def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    import aiohttp  # noqa: PLC0415 - loaded by now

    return aiohttp.ClientTimeout(total=seconds)


def _location(response: aiohttp.ClientResponse) -> str | None:
    return response.headers.get("Location") if response.status in REDIRECTS else None
