"""May they enter? Asked with every request, so what was decided is kept for a second, or until something changes."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from kith.base.caches import ForAWhile
from kith.base.errors import Unauthenticated
from kith.base.exchange import Exchange
from kith.base.server.wire import header_lines
from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.gateway import headers
from kith.identity.gateway.additional_names import AdditionalNames
from kith.identity.gateway.gateways import Gateway
from kith.identity.gateway.headers import Pairs
from kith.identity.gateway.logins import CHALLENGE, WRONG, GatewayLogin, find_login
from kith.identity.gateway.paths import host_key
from kith.identity.gateway.upstream.pool import Upstream, read_upstream
from kith.identity.providers.oauth2.access import policies as access
from kith.identity.providers.oauth2.access.checks import AccessRequest, context_of
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.rest.fields import MASK
from kith.identity.users.able_people import may_act

__all__ = ["KEPT_SECONDS", "Admitted", "Decision", "Decisions", "Refused", "access_request"]

KEPT_SECONDS = 1.0  # with what it takes to decide, less than the two seconds that are promised
MOST_KEPT = 20_000
MOST_KEY = 4096
_CLAIMS = ("kith_proxy", "ak_proxy")

Kept = tuple[int, str, bytes, bytes]  # gateway, address, Cookie and Authorization header


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """They may enter: what the application is told of them. `lines` is the same, as it goes over the wire.

    `names` are the plain names of these headers, for what a browser sends under one of them.
    """

    login: GatewayLogin
    username: str
    headers: Pairs
    lines: bytes
    names: frozenset[bytes]
    upstream: Upstream | None = None  # instead of the gateway's own
    host: str = ""  # instead of the upstream's


class Refused(msgspec.Struct, frozen=True):
    """They are known, but the application's policies say no."""

    login: GatewayLogin


Decision = Admitted | Refused | None


class Decisions:
    """What was decided, by the headers that somebody sends and where from: policies may look at that, too.

    Only those who are known are kept.
    """

    def __init__(self) -> None:
        self._kept: ForAWhile[Admitted | Refused] = ForAWhile("gateway_decisions", seconds=KEPT_SECONDS, most=MOST_KEPT)
        self._deciding: dict[Kept, asyncio.Future[None]] = {}
        self.version = 0

    def forget(self) -> None:
        self.version += 1
        self._kept.clear()

    def kept(self, key: Kept) -> Admitted | Refused | None:
        return self._kept.get(key)

    async def decide(self, exchange: Exchange, gateway: Gateway, *, by_header: bool = True) -> Decision:
        """Before the first write of the exchange's work. Without `by_header` only the cookie counts."""
        by_header = by_header and gateway.takes_header_login
        authorization = exchange.header(b"authorization") if by_header else b""
        key = (gateway.id, exchange.address, exchange.header(b"cookie"), authorization)
        found: Decision = self._kept.get(key)
        if found is None and key in self._deciding:
            await asyncio.wait({self._deciding[key]})
            found = self._kept.get(key)
        if found is None:
            found = await self._decide(exchange, gateway, key, by_header=by_header)
        if found is not None:
            exchange.user_id = found.login.user_id
        return found

    async def _decide(self, exchange: Exchange, gateway: Gateway, key: Kept, *, by_header: bool) -> Decision:
        """Of several requests that ask the same at once, the others wait for what the first finds out."""
        version, done = self.version, asyncio.get_running_loop().create_future()
        is_small = len(key[2]) + len(key[3]) <= MOST_KEY
        if is_small:
            self._deciding.setdefault(key, done)
        try:
            found = await _decide(exchange, gateway, by_header=by_header)
            if found is not None and version == self.version and is_small:
                self._kept.put(key, found)
            return found
        finally:
            done.set_result(None)
            if self._deciding.get(key) is done:
                del self._deciding[key]


async def _decide(exchange: Exchange, gateway: Gateway, *, by_header: bool) -> Decision:
    login = await find_login(exchange, gateway, by_header=by_header)
    if login is None:
        return None
    work = exchange.work
    person = await subjects.find(work, login.user_id)
    client = await clients.find_by_provider(work, gateway.id)
    if person is None or client is None or not may_act(work, person.user):
        if not login.key_hash:
            raise Unauthenticated(WRONG, headers=CHALLENGE)
        return None
    entry = access_request(gateway, login)
    verdict, _ = await access.ask(work, client, login.user_id, context_of(client, entry))
    if not verdict.passing:
        return Refused(login)
    return await _admitted(work, gateway, client, person, login)


def access_request(gateway: Gateway, login: GatewayLogin) -> AccessRequest:
    """What policies know of the question: the same as when the person signed in."""
    return AccessRequest(
        scopes=list(login.scopes),
        grant_type="authorization_code",
        redirect_uri=gateway.callback,
        response_type="code",
        code_challenge_method="S256",
    )


async def _admitted(
    work: Work, gateway: Gateway, client: Client, person: PolicySubject, login: GatewayLogin
) -> Admitted:
    user = person.user
    told = await claims.brought(work, client, person, list(login.scopes))
    told = {"preferred_username": user.username, **told, "sub": claims.subject(work, client, user)}
    own: dict[str, Any] = {}
    for group in person.groups:
        own |= group["attributes"] or {}
    own |= user.attributes
    chosen = _chosen(told)
    if isinstance(chosen.get("user_attributes"), dict):
        # Mappings see passwords masked; the mask sent back changes nothing.
        own |= {name: one for name, one in chosen["user_attributes"].items() if one != MASK or name not in own}
    pairs = (
        *headers.identity_headers(gateway, told, login.token, work.settings.base_url),
        *work.find(AdditionalNames).learn(headers.additional(own)),
        *headers.basic_for(gateway, own, str(told.get("email") or user.counted_email)),
    )
    return Admitted(
        login=login,
        username=user.username,
        headers=pairs,
        lines=header_lines(pairs),
        names=frozenset(headers.plain_name(name) for name, _ in pairs),
        upstream=_other_upstream(gateway, chosen),
        host=_other_host(chosen),
    )


def _chosen(told: dict[str, Any]) -> dict[str, Any]:
    """What mappings of the gateway's own scope say."""
    for name in _CLAIMS:
        found = told.get(name)
        if isinstance(found, dict):
            return found
    return {}


def _other_upstream(gateway: Gateway, chosen: dict[str, Any]) -> Upstream | None:
    """`backend_override`: a mapping may pass on what people say of themselves, so it never leads inwards by itself.

    The gateway's own host and port may be named again, and hosts that the operator listed (`KITH_PRIVATE_HOSTS`).
    """
    wanted = chosen.get("backend_override")
    if not isinstance(wanted, str) or not wanted:
        return None
    own = read_upstream(gateway.internal_host, verifies=gateway.verifies_tls, is_guarded=False)
    found = read_upstream(wanted[:500], verifies=gateway.verifies_tls, is_guarded=True)
    if found is None:
        return None
    if own is not None and (own.scheme, own.host, own.port) == (found.scheme, found.host, found.port):
        return msgspec.structs.replace(found, is_guarded=False)
    return found


def _other_host(chosen: dict[str, Any]) -> str:
    wanted = chosen.get("host_header")
    return wanted if isinstance(wanted, str) and host_key(wanted, "") is not None else ""
