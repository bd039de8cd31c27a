"""What other servers ask before they write to a device here: which there are, and a key of one of them."""

from __future__ import annotations

import msgspec

from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.http.sites import site_of_domain
from kith.base.limits import Limiter, LimitRule
from kith.base.routing import FromPath, FromQuery, get, post
from kith.base.work import Work
from kith.federation.documents import people
from kith.federation.documents.answers import encode, negotiated
from kith.federation.documents.numbered import also_by_number
from kith.federation.documents.signers import asker_of
from kith.federation.inbox import verification
from kith.federation.vocabulary.outgoing import encryption
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.encryption import service
from kith.social.encryption.service import Target

__all__ = ["routes"]

# Whatever is named. How many keys of a device one may take is for the device to say.
CLAIMS = LimitRule("device_claims", most=60, seconds=300)
LONGEST_CLAIM = 16 * 1024  # nothing in it is read, but it belongs to what is signed


class NamedDevice(msgspec.Struct, kw_only=True):
    id: str = ""


@get("/users/{name}/collections/devices", **also_by_number("/users/{name}/collections/devices"))
async def show_devices(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
    """For whoever signs: devices are for those who want to write to them."""
    me = await asker_of(exchange, must_know=True)
    if me is None:
        raise Unauthenticated("Request not signed")
    owner = await people.find_open(work, name, me)
    found = (await service.devices_of(work, me, [owner.id])).get(owner.id, [])
    made = encode(with_context(encryption.devices(owner.uri, found)))
    return negotiated(exchange, made, me, is_open=False)


@post("/users/{name}/claim", **also_by_number("/users/{name}/claim"))
async def claim_key(exchange: Exchange, name: FromPath[str], asked: FromQuery[NamedDevice]) -> Answer:
    signer = await verification.signer_of(exchange, longest_body=LONGEST_CLAIM)
    exchange.find(Limiter).spend(CLAIMS, f"{site_of_domain(signer.domain)}:{name.lower()[:150]}")
    work = exchange.work
    owner = await people.find_open(work, name, signer.account_id)
    claimed = await service.claim(work, signer.account_id, [Target(account_id=owner.id, device_id=asked.id)])
    if not claimed:
        raise NotFound
    made = encode(with_context(encryption.claimed_key(claimed[0][1])))
    return negotiated(exchange, made, signer.account_id, is_open=False)


routes = [show_devices, claim_key]
