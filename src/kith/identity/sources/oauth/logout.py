"""Back-channel logout received: the service says that somebody has signed out there (OpenID Back-Channel Logout)."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

from kith.base.errors import Malformed, Throttled
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.moments import moment_at
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.sessions import store as sessions
from kith.identity.sessions.service import SessionEnded
from kith.identity.sources import store
from kith.identity.sources.oauth.client import newer_keys
from kith.identity.sources.oauth.id_tokens import UnknownKey, Untrusted, check_common, is_number, verified
from kith.identity.sources.oauth.settings import Service
from kith.identity.sources.oauth.sign_in import find
from kith.identity.sources.store import Source

EVENT = "http://schemas.openid.net/event/backchannel-logout"
TOKENS = LimitRule("source-logout", most=300, seconds=60)
FETCHES = LimitRule("source-logout-keys", most=10, seconds=60)
LIFE = timedelta(minutes=10)


async def receive(exchange: Exchange, slug: str, token: str) -> None:
    """End the sessions that the token names; it counts once. Raises `Malformed` if it is not to be believed."""
    exchange.find(Limiter).spend(TOKENS, address_key(exchange.address))
    source, service = await find(exchange, slug)
    try:
        claims = await _claims(exchange.work, source, service, token)
    except Untrusted as error:
        raise Malformed(f"This logout token is not accepted: {error}") from error
    async with exchange.work.aside() as work:
        await work.db.begin()
        unique = hashlib.sha256(f"{claims['jti']}".encode()).hexdigest()
        if not await store.is_new_message(work.db, source.pbm_uuid, unique, _until(work)):
            raise Malformed("This logout token is not accepted: it was used before")
        await _end(work, source, str(claims.get("sub") or ""), str(claims.get("sid") or ""))


async def _claims(work: Work, source: Source, service: Service, token: str) -> dict[str, Any]:
    try:
        claims = verified(token, service.jwks)
    except UnknownKey:
        try:  # anybody can name a key that nobody knows
            work.find(Limiter).spend(FETCHES, source.pbm_uuid)
        except Throttled as error:
            raise Untrusted("no key is known by which it could be checked") from error
        claims = verified(token, await newer_keys(work, source.pbm_uuid, service))
    check_common(claims, issuer=service.issuer, client_id=service.client_id, now=work.now.timestamp())
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise Untrusted("it is no logout token")
    if "nonce" in claims:
        raise Untrusted("it is an ID token")
    if not isinstance(claims.get("jti"), str) or not claims["jti"]:
        raise Untrusted("it has no jti")
    issued = moment_at(claims["iat"])
    if issued is None or work.now - issued > LIFE:
        raise Untrusted("it is too old")
    ends = claims.get("exp")
    if ends is not None and (not is_number(ends) or ends < work.now.timestamp() - 60):
        raise Untrusted("it has expired")
    if not claims.get("sub") and not claims.get("sid"):
        raise Untrusted("it names nobody")
    return claims


def _until(work: Work) -> datetime:
    """It is remembered for longer than it would be accepted."""
    return work.now + 2 * LIFE


async def _end(work: Work, source: Source, sub: str, sid: str) -> None:
    for session_uuid in await store.sessions_by(work.db, source.pbm_uuid, identifier=sub, remote=sid):
        if await sessions.end(work.db, session_uuid):
            work.announce(SessionEnded(session_uuid=session_uuid))
            context = {
                "logout_reason": "ended by the source",
                "source": {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug},
            }
            await audit.record(work, "logout", "sources.oauth", context=context)
