"""Who has made a request, by its signature."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from kith.base.errors import Forbidden
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, address_key
from kith.base.work import Works
from kith.federation.gate.service import Gate
from kith.federation.inbox.floods import UNBELIEVED
from kith.federation.inbox.known_keys import HeldKey, KnownKeys
from kith.federation.signatures.received import ReceivedRequest, SignatureClaim
from kith.federation.signatures.refusals import Fault, SignatureRefused, shown
from kith.federation.signatures.verifying import is_valid, read_claim
from kith.social.ids import AccountId

__all__ = ["Verified", "check", "check_domain", "received", "signer_of"]


class Verified(msgspec.Struct, frozen=True):
    """`domain` is where the account lives; `signed_at` is what the sender's clock said."""

    account_id: AccountId
    actor: str
    domain: str
    key_id: str
    signed_at: datetime


def received(exchange: Exchange, body: bytes = b"") -> ReceivedRequest:
    scope = exchange.scope
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    origins = (exchange.server.works.settings.base_url,)
    return ReceivedRequest(scope["method"], scope["raw_path"], exchange.query_string, headers, body, origins=origins)


async def signer_of(exchange: Exchange, *, longest_body: int = 0, may_fetch: bool = True) -> Verified:
    """Whose key has signed a request; `SignatureRefused` where nobody's has.

    It counts against the address before anything is read or asked of others, and is given back to whoever is believed.
    Where `may_fetch` is not said, strangers stay strangers: only a key that is known here counts.
    """
    limiter, address = exchange.find(Limiter), address_key(exchange.address)
    limiter.spend(UNBELIEVED, address)
    body = await exchange.body(longest_body) if longest_body else b""
    found = await _verify(exchange.server.works, received(exchange, body), exchange.find(Gate), may_fetch=may_fetch)
    limiter.unspend(UNBELIEVED, address)
    return found


async def _verify(works: Works, request: ReceivedRequest, gate: Gate, *, may_fetch: bool) -> Verified:
    claim = read_claim(request, datetime.now(UTC))
    await check_domain(gate, claim.key_id.host)
    keys: KnownKeys = works.services[KnownKeys]
    key = await keys.find(claim.key_id)
    if key is None:
        if not may_fetch:
            raise SignatureRefused(Fault.KEY_ID, f"Public key not found for key {shown(claim.key_id.id)}")
        key = await keys.fetch(claim.key_id)
    return await check(keys, gate, claim, key)


async def check_domain(gate: Gate, domain: str) -> None:
    if not await gate.admits(domain):
        raise Forbidden


async def check(keys: KnownKeys, gate: Gate, claim: SignatureClaim, key: HeldKey) -> Verified:
    """People may live at another domain than their server has: both must be let in."""
    found = await _check(keys, claim, key)
    if found.domain != claim.key_id.host:
        await check_domain(gate, found.domain)
    return found


async def _check(keys: KnownKeys, claim: SignatureClaim, key: HeldKey) -> Verified:
    """With the key that is known; with what the database has, or its own server says, where that fails."""
    if is_valid(claim, key.key):
        return _verified(claim, key)
    read = await keys.read(claim.key_id)
    if read is not None and read.key != key.key and is_valid(claim, read.key):
        return _verified(claim, read)
    fetched = await keys.fetch_again(claim.key_id)
    if fetched is None or not is_valid(claim, fetched.key):
        words = f"Verification failed for {shown(key.actor)} {shown(claim.key_id.id)}"
        raise SignatureRefused(Fault.WRONG, words)
    return _verified(claim, fetched)


def _verified(claim: SignatureClaim, key: HeldKey) -> Verified:
    signed_at = datetime.fromtimestamp(claim.created, UTC)
    return Verified(key.account_id, key.actor, key.domain, claim.key_id.id, signed_at)
