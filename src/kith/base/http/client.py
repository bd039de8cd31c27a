"""The one client through which kith calls other servers."""

from __future__ import annotations

import asyncio
import importlib
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from contextvars import ContextVar
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, cast

import msgspec
from multidict import CIMultiDictProxy

from kith.base import asking, traces
from kith.base.caches import ForAWhile
from kith.base.db import writing
from kith.base.http.addresses import PrivateHosts, parse_address
from kith.base.http.failures import AddressRefused, OutgoingError, WastefulAnswer, translated
from kith.base.http.hops import REDIRECTS, Hop, Resign, first_hop, next_hop
from kith.base.http.names import Names
from kith.base.http.posting import Poster
from kith.base.http.sites import site_of
from kith.base.http.wire import PostAnswer
from kith.base.places import WAIT_SECONDS, Full, Places
from kith.base.tls import client_context

if TYPE_CHECKING:
    import aiohttp  # loaded when something is first sent
    from aiohttp.abc import AbstractResolver, ResolveResult

__all__ = ["Download", "Outgoing", "OutsideAnswer"]

MIB = 1024 * 1024
LEAST_RATE = 1024  # bytes a second
SLOW_SECONDS = 5.0  # that a body may take, however small it is
_CHUNK = 64 * 1024

# The connector's guard is told addresses, not names; the context of the request carries the name to it, and what was
# found out about that name before.
_wanted_host: ContextVar[str] = ContextVar("wanted_host", default="")
_found: ContextVar[Sequence[str]] = ContextVar("found_addresses", default=())

# Calls that are under way: in all, to one registered domain, for one caller, by one kind of job to one domain, and for
# all strangers together. What one kind of job asks of one domain leaves room for what it asks of others.
MOST_CALLS, CALLS_FOR_STRANGERS = 256, 128
CALLS_EACH = {"host": 16, "caller": 32, "job": 8}
LOOK_UP_SECONDS = 5.0
MOST_NAMES_KEPT = 4096
WASTEFUL_SECONDS = 300.0  # in which a host is left alone that has sent wrapping and little else
MOST_WASTEFUL = 4096
MOST_QUESTIONS = 512  # about addresses, at once: more than there are hosts that are written to at once


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
    """An answer whose body is still on its way: iterate once over its chunks.

    Whoever sends less than `least_rate` bytes a second, after a while to begin with, is not waited for.
    """

    def __init__(self, response: aiohttp.ClientResponse, max_bytes: int, shown: str, least_rate: int) -> None:
        self._response = response
        self._max_bytes = max_bytes
        self._shown = shown
        self._least_rate = least_rate
        self.status = response.status
        self.headers = response.headers
        self.url = str(response.url)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Chunks of the decompressed body; the limit counts these, so a small bomb stays small."""
        self._refuse_announced_size()
        seen = 0
        begun = asyncio.get_running_loop().time()
        chunks = self._response.content.iter_chunked(_CHUNK).__aiter__()
        while True:
            with translated(self._shown):
                async with asyncio.timeout_at(begun + SLOW_SECONDS + seen / self._least_rate):
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
        self._names = Names(
            "outgoing_names",
            seconds=LOOK_UP_SECONDS,
            most_kept=MOST_NAMES_KEPT,
            most_at_once=MOST_QUESTIONS,
            keep_none=False,
        )
        self._calls = Places("calls", most=MOST_CALLS, each=CALLS_EACH, strangers=CALLS_FOR_STRANGERS)
        self._wasteful: ForAWhile[bool] = ForAWhile("wasteful_hosts", seconds=WASTEFUL_SECONDS, most=MOST_WASTEFUL)
        self._poster = Poster(user_agent, self._private_hosts, self._names)
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
        least_rate: int = LEAST_RATE,
    ) -> AsyncIterator[Download]:
        """Like `request`, but the body comes in chunks while the block is open, `least_rate` bytes a second or more."""
        hop, left = first_hop(method, url, headers, body), timeout
        try:
            async with AsyncExitStack() as stack:
                response, left = await self._begin(stack, hop, left)
                while max_redirects is not None and (location := _location(response)) is not None:
                    await stack.aclose()
                    if max_redirects <= 0:
                        raise OutgoingError("too_many_redirects", f"the last led to {hop.shown}")
                    max_redirects -= 1
                    hop = next_hop(hop, response.status, location, on_redirect)
                    response, left = await self._begin(stack, hop, left)
                yield Download(response, max_bytes, hop.shown, least_rate)
        except OutgoingError as error:
            if isinstance(error, WastefulAnswer):
                self._wasteful.put((hop.url.raw_host, hop.url.port), True)
            await asking.look_again()
            raise
        await asking.look_again()

    async def _begin(self, stack: AsyncExitStack, hop: Hop, left: float) -> tuple[aiohttp.ClientResponse, float]:
        """An answer, of which the head has come; it is let go with `stack`. And what is left of the time.

        Waiting for a place of our own is not the host's time. A job that has asked nobody yet does not wait: somebody
        else has its place in the lane meanwhile.
        """
        writing.refuse(f"{hop.shown} is asked")
        if self._is_silent:
            raise OutgoingError("refused_address", f"{hop.shown}: nothing is sent from here")
        if left <= 0:
            raise OutgoingError("timeout", hop.shown)
        if self._wasteful.get((hop.url.raw_host, hop.url.port)):
            raise OutgoingError("protocol", f"{hop.shown}: the last answer was wrapping and little else")
        host = hop.url.raw_host or ""
        at_once = asking.begin_to_call()
        try:
            await stack.enter_async_context(self._place(site_of(hop.url), WAIT_SECONDS * (not at_once)))
            found = [host] if parse_address(host) is not None else await self._names.resolve(host)
        except Full as full:
            if at_once:
                raise  # the job is done later, from the beginning
            raise OutgoingError("busy", f"{hop.shown}: {full}") from full
        begun = asyncio.get_running_loop().time()
        response = await self._send(hop, host, found, left)
        stack.callback(response.release)
        return response, left - (asyncio.get_running_loop().time() - begun)

    def _place(self, site: str, seconds: float) -> AbstractAsyncContextManager[None]:
        job = asking.job()
        return self._calls.take(
            seconds=seconds,
            is_stranger=asking.is_for_a_stranger(),
            host=site,
            caller=asking.caller(),
            job=f"{job} {site}" if job else None,
        )

    async def _send(self, hop: Hop, host: str, found: Sequence[str], left: float) -> aiohttp.ClientResponse:
        session = await self._opened()
        token, found_token = _wanted_host.set(host), _found.set(found)
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
            _found.reset(found_token)

    def _traced(self, method: str, host: str) -> AbstractContextManager[traces.Span | None]:
        return traces.outgoing(method, host) if self._is_traced else nullcontext()

    def _with_trace(self, hop: Hop, host: str, span: traces.Span | None) -> Mapping[str, str]:
        """Services of the operator's own are told what the call belongs to; strangers are not."""
        if span is None or not self._private_hosts.lists(host, hop.url.port or 0):
            return hop.headers
        return {**hop.headers, "traceparent": span.traceparent}

    async def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            context = await asyncio.to_thread(_prepare)  # much is read, and the loop is not to wait
            if self._session is None:
                self._session = self._made(context)
        return self._session

    def _made(self, context: ssl.SSLContext) -> aiohttp.ClientSession:
        import aiohttp  # noqa: PLC0415 - loaded by now

        from kith.base.http.measured import measured_connector  # noqa: PLC0415

        connector = measured_connector(
            limit=0,  # `_calls` has the places
            ssl=context,
            resolver=cast("AbstractResolver", _Found()),
            use_dns_cache=False,  # `_names` keeps them
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


def _prepare() -> ssl.SSLContext:
    importlib.import_module("aiohttp")
    context = client_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Found:
    """To the connector, a resolver: it says what was found out before the call was begun."""

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 - the connector gives it by name
    ) -> list[ResolveResult]:
        found = _found.get()
        if not found:
            raise OSError(f"nobody knows the address of {host}")
        return [_resolved(host, address, port) for address in found]

    async def close(self) -> None:
        """It holds nothing."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": family,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    }


def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    import aiohttp  # noqa: PLC0415 - loaded by now

    return aiohttp.ClientTimeout(total=seconds)


def _location(response: aiohttp.ClientResponse) -> str | None:
    return response.headers.get("Location") if response.status in REDIRECTS else None
