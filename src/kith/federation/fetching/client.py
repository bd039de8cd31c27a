"""Asking other servers: every hop is checked against the gate, the budget and what is remembered of its host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from kith.base.caches import ForAWhile
from kith.base.http import Download, Outgoing, OutgoingError, OutsideAnswer, PrivateHosts
from kith.base.http.hops import REDIRECTS, Hop, first_hop, next_hop
from kith.base.http.urls import parse_url
from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.failures import FetchFailed
from kith.federation.fetching.ports import HostGate, OpenGate, RequestSigner, SignatureScheme
from kith.federation.vocabulary.incoming.ids import domain_of

__all__ = ["RemoteClient"]

SECONDS = 10.0
MOST_BYTES = 1024 * 1024
MOST_REDIRECTS = 3
FAILED_SECONDS = 300.0
FAIR_SECONDS = 5.0  # a host that was given less, because another one took its time, is not to blame
LONGEST_PAUSE = 3600.0
SCHEME_SECONDS = 86400.0
MOST_HOSTS = 10_000
_OF_THE_HOST = frozenset({"timeout", "connect", "tls", "protocol"})
_SECOND_KNOCK = frozenset({400, 401})
_PAUSES = frozenset({429, 503})

Believes = Callable[[str], bool]


class _Visit(msgspec.Struct, frozen=True):
    """What holds for all hops of one request."""

    chain: FetchChain
    signer: RequestSigner | None
    believes: Believes
    deadline: float


class RemoteClient:
    """A host that could not be reached is left alone for five minutes, one that asks for a pause for that long.

    One that answers, but too slowly, is left out for the rest of its chain only: somebody else may have chosen what was
    asked of it.

    Plain http is spoken to hosts that the operator has listed, and to nobody else.
    """

    def __init__(self, outgoing: Outgoing, private_hosts: Sequence[str] = (), gate: HostGate | None = None) -> None:
        self._outgoing = outgoing
        self._private_hosts = PrivateHosts(private_hosts)
        self._gate = gate or OpenGate()
        self._failed: ForAWhile[str] = ForAWhile("failed_hosts", seconds=LONGEST_PAUSE, most=MOST_HOSTS)
        self._schemes: ForAWhile[SignatureScheme] = ForAWhile(
            "signature_schemes", seconds=SCHEME_SECONDS, most=MOST_HOSTS
        )

    def origin_of(self, domain: str) -> str:
        """Where a domain is asked, which may carry a port."""
        listed = parse_url(f"http://{domain}")
        scheme = "http" if self._private_hosts.lists(listed.raw_host or "", listed.port or 80) else "https"
        return f"{scheme}://{domain}"

    async def get(
        self,
        url: str,
        *,
        accept: str,
        chain: FetchChain,
        signer: RequestSigner | None = None,
        believes: Believes | None = None,
        seconds: float = SECONDS,
    ) -> OutsideAnswer:
        """Any answer that is no redirect; a body is read of a 200 only, and of a type that `believes` is content with.

        `seconds` are for all hops and the body.
        """
        visit = _Visit(chain, signer, believes or _anything, asyncio.get_running_loop().time() + seconds)
        try:
            hop = first_hop("GET", url, {"Accept": accept}, None)
            for _ in range(MOST_REDIRECTS + 1):
                answer = await self._knock(hop, visit)
                location = answer.headers.get("Location") if answer.status in REDIRECTS else None
                if location is None:
                    return answer
                hop = next_hop(hop, answer.status, location, None)
        except OutgoingError as error:
            raise FetchFailed(error.reason, str(error)) from error
        raise FetchFailed("too_many_redirects", url)

    async def _knock(self, hop: Hop, visit: _Visit) -> OutsideAnswer:
        """With the signature that the host has understood before, else with the older one first."""
        signer, url = visit.signer, str(hop.url)
        if signer is None:
            return await self._ask(hop, visit, {})
        known = self._schemes.get(domain_of(url))
        answer = await self._ask(hop, visit, await signer.sign("GET", url, known or "cavage"))
        if known is not None or answer.status not in _SECOND_KNOCK:
            return answer
        again = await self._ask(hop, visit, await signer.sign("GET", url, "rfc9421"))
        if again.status not in _SECOND_KNOCK:
            self._schemes.put(domain_of(url), "rfc9421")
        return again

    async def _ask(self, hop: Hop, visit: _Visit, signature: Mapping[str, str]) -> OutsideAnswer:
        domain = await self._admitted(hop)
        visit.chain.spend(domain)
        begun = asyncio.get_running_loop().time()
        left = max(0.0, visit.deadline - begun)
        has_answered = False
        try:
            async with self._outgoing.stream(
                "GET",
                str(hop.url),
                headers={**signature, **hop.headers},
                max_bytes=MOST_BYTES,
                timeout=left,
                max_redirects=None,
            ) as download:
                has_answered = True
                self._heed(download, domain, hop.shown)
                return await _read(download, visit.believes)
        except OutgoingError as error:
            if error.reason in _OF_THE_HOST:
                visit.chain.leave_out(domain)
            if error.reason in _OF_THE_HOST and not has_answered and left >= FAIR_SECONDS:
                self._failed.put(domain, error.reason, seconds=FAILED_SECONDS)
            raise
        finally:
            visit.chain.waited(domain, asyncio.get_running_loop().time() - begun)

    def _heed(self, download: Download, domain: str, shown: str) -> None:
        """Whoever asks for a pause gets it."""
        if download.status in _PAUSES:
            self._failed.put(domain, "paused", seconds=_pause(download.headers.get("Retry-After", "")))
            raise FetchFailed("unavailable", f"{shown} answered {download.status}")

    async def _admitted(self, hop: Hop) -> str:
        domain = domain_of(str(hop.url))
        if hop.url.scheme != "https" and not self._private_hosts.lists(hop.url.raw_host or "", hop.url.port or 80):
            raise FetchFailed("plain_http", hop.shown)
        if not domain:  # nothing has been decided about what has no name that counts, as `shut.example.`
            raise FetchFailed("wrong_host", hop.shown)
        refused = await self._gate.reason_against(domain)
        if refused is not None:
            raise FetchFailed(refused, domain)
        before = self._failed.get(domain)
        if before is not None:
            raise FetchFailed("failed_before", f"{domain}: {before}")
        return domain


async def _read(download: Download, believes: Believes) -> OutsideAnswer:
    body = b""
    if download.status == 200:
        content_type = download.headers.get("Content-Type", "")
        if not believes(content_type):
            raise FetchFailed("wrong_type", f"{download.url} is {content_type[:100]!r}")
        body = b"".join([chunk async for chunk in download])
    return OutsideAnswer(download.status, download.headers, body, download.url)


def _anything(_: str) -> bool:
    return True


def _pause(text: str) -> float:
    """As many seconds as the host asks for; a date or nothing is taken as the usual while."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return min(float(text), LONGEST_PAUSE) if is_number else FAILED_SECONDS
