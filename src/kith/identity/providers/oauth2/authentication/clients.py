"""Client authentication: a secret in a header or form, a signed assertion, or none for a public client.

An unknown client and a wrong secret get the same answer.
"""

from __future__ import annotations

import base64
import binascii
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from kith.base.db import Taken
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.moments import moment_at
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.errors import OAuthError, invalid_client, invalid_request, missing, unfit_proof
from kith.identity.providers.oauth2.forms import refuse_secrets_in_query
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.keys import client_keys
from kith.identity.providers.oauth2.keys import signing as keys

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_ALGS = client_keys.ALGS
LONGEST_ASSERTION = timedelta(minutes=10)
SLACK = timedelta(seconds=30)
FAILURES = LimitRule("oauth-client", most=20, seconds=300)


class PresentedClient(msgspec.Struct, frozen=True):
    """The credentials that a client has sent."""

    method: str
    client_id: str
    secret: str = ""

    @property
    def is_basic(self) -> bool:
        return self.method == "client_secret_basic"


async def client_of(exchange: Exchange, sent: dict[str, str]) -> Client:
    """The client of this request, authenticated as its record requires."""
    shown = read_client(exchange, sent)
    limiter, work = exchange.find(Limiter), exchange.work
    client = await clients.find(work, shown.client_id)
    # Whatever names somebody makes up, they are counted together.
    who = f"{address_key(exchange.address)}:{client.client_id if client is not None else ''}"[:150]
    refusal = invalid_client(basic=shown.is_basic)
    # Counted together with the comparison, so that parallel tries cannot get around the limit.
    limiter.spend(FAILURES, who)
    try:
        is_known = client is not None and not client.is_suspended and shown.method in client.auth_methods
        if client is not None and is_known and await _is_proven(work, client, shown, exchange):
            limiter.unspend(FAILURES, who)
            return client
    except OAuthError as error:
        refusal = error
    if client is not None:
        await _write_down(work, client, shown.method)
    raise refusal


async def confidential_client_of(exchange: Exchange, sent: dict[str, str]) -> Client:
    """A client with a secret; public clients are refused, as anybody can claim to be one."""
    client = await client_of(exchange, sent)
    if client.is_public:
        raise invalid_client()
    return client


def read_client(exchange: Exchange, sent: dict[str, str]) -> PresentedClient:
    refuse_secrets_in_query(exchange)
    basic = _read_basic(exchange.header(b"authorization"))
    by_secret, by_proof = "client_secret" in sent, "client_assertion" in sent or "client_assertion_type" in sent
    if (basic is not None) + by_secret + by_proof > 1:
        raise invalid_request("More than one way of client authentication was used.")
    named = sent.get("client_id", "")
    if basic is not None:
        if named and named != basic[0]:
            raise invalid_request("The client_id is not that of the Authorization header.")
        return PresentedClient("client_secret_basic", *basic)
    if by_proof:
        return _read_proof(sent, named)
    if not named:
        raise missing("client_id") if by_secret else invalid_client()
    return PresentedClient("client_secret_post" if by_secret else "none", named, sent.get("client_secret", ""))


def _read_proof(sent: dict[str, str], named: str) -> PresentedClient:
    if sent.get("client_assertion_type") != ASSERTION_TYPE:
        raise invalid_request("The client_assertion_type is not supported.")
    proof = sent.get("client_assertion", "")
    try:
        told = keys.read_unchecked(proof)
    except keys.BadToken as error:
        raise invalid_client() from error
    client_id = told.get("sub")
    if not isinstance(client_id, str) or (named and named != client_id):
        raise invalid_client()
    return PresentedClient("private_key_jwt", client_id, proof)


def _read_basic(header: bytes) -> tuple[str, str] | None:
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        raw = base64.b64decode(encoded.strip(), validate=True).decode()
        name, colon, secret = raw.partition(":")
        if not colon:
            raise invalid_client(basic=True)
        return unquote_plus(name, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise invalid_client(basic=True) from error


async def _is_proven(work: Work, client: Client, shown: PresentedClient, exchange: Exchange) -> bool:
    match shown.method:
        case "none":
            return client.is_public
        case "private_key_jwt":
            return await _is_signed(work, client, shown.secret, exchange)
    return client.knows_secret(shown.secret)


async def _is_signed(work: Work, client: Client, proof: str, exchange: Exchange) -> bool:
    """False for an assertion that this client has not signed; raises if it has, but the assertion is invalid."""
    try:
        algs = [client.assertion_alg] if client.assertion_alg else ASSERTION_ALGS
        claims = await client_keys.read_signed(work, client, proof, algs)
    except keys.BadToken:
        return False
    if claims.get("iss") != client.client_id or claims.get("sub") != client.client_id:
        return False
    wrong = _wrong_with(work, claims, _places(work, client, exchange))
    ends = _moment(claims.get("exp"))
    if wrong is None and ends is not None and await _is_new(work, f"{client.client_id}\n{claims['jti']}", ends + SLACK):
        return True
    raise unfit_proof(wrong or "its jti was used before.")


def _wrong_with(work: Work, claims: dict[str, Any], places: set[str]) -> str | None:
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if not places.intersection(one for one in named if isinstance(one, str)):
        return "its aud is not this server."
    ends, jti = _moment(claims.get("exp")), claims.get("jti")
    if ends is None or ends <= work.now - SLACK:
        return "it has expired, or does not say when it does (exp)."
    if ends > work.now + LONGEST_ASSERTION + SLACK:
        return f"it may be valid for {LONGEST_ASSERTION.seconds // 60} minutes at most, and exp is later."
    begins = [_moment(claims[name]) for name in ("nbf", "iat") if name in claims]
    if any(one is None or one > work.now + SLACK for one in begins):
        return "it is not valid yet (nbf, iat)."
    if not isinstance(jti, str) or not jti or len(jti) > 500:
        return "it needs a jti of at most 500 characters."
    return None


def _places(work: Work, client: Client, exchange: Exchange) -> set[str]:
    base = work.settings.base_url
    return {
        f"{base}/application/o/token/",
        f"{base}/oauth/token",
        f"{base}{exchange.path}",
        f"{base}/",
        base,
        client.issuer(base),
    }


def _moment(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return moment_at(value)


async def _is_new(work: Work, name: str, until: datetime) -> bool:
    """Store the assertion's id at once: an assertion is accepted only once."""
    try:
        async with work.aside() as aside:
            await store.insert_assertion(aside.db, hash_key(name), until)
    except Taken:
        return False
    return True


async def _write_down(work: Work, client: Client, method: str) -> None:
    context = {
        "message": "Client authentication failed.",
        "client": client.client_id,
        "name": client.name,
        "method": method,
    }
    async with work.aside() as aside:
        await audit.record(aside, "suspicious_request", "providers.oauth2", context=context, of_stranger=True)
