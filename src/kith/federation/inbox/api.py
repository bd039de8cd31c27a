"""Where other servers write to us. A request is checked and kept; what it says is done afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from zlib import crc32

from kith.base.errors import Malformed
from kith.base.exchange import Answer, Exchange
from kith.base.http.sites import site_of_domain
from kith.base.limits import Limiter, address_key
from kith.base.routing import FromPath, post
from kith.federation.documents import people
from kith.federation.documents.numbered import also_by_number
from kith.federation.gate.service import Gate
from kith.federation.inbox import verification
from kith.federation.inbox.floods import FROM_HOST, KILOBYTES_FROM_HOST, UNBELIEVED, kilobytes
from kith.federation.inbox.intake import Intake
from kith.federation.inbox.known_keys import KnownKeys
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from kith.federation.inbox.verification import Verified
from kith.federation.signatures.received import ReceivedRequest, SignatureClaim
from kith.federation.signatures.verifying import read_claim
from kith.federation.vocabulary.incoming import Document, DocumentRefused, limits, parse_document
from kith.federation.vocabulary.incoming.activities import ACTIVITY_TYPES
from kith.federation.vocabulary.incoming.discovery import is_sent_type
from kith.federation.vocabulary.incoming.fields import read_actor_id, read_object_id, type_of
from kith.federation.vocabulary.incoming.ids import domain_of, read_id, without_fragment
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId

__all__ = ["routes"]

SYNCHRONIZATION = b"collection-synchronization"
LONGEST_SYNCHRONIZATION = 4096
LONGEST_INDEXED = 2000
LONGEST_FAREWELL = 16_384
_ACCEPTED = Answer(202, ((b"cache-control", b"no-store"),))


@post("/inbox")
async def receive_for_all(exchange: Exchange) -> Answer:
    return await _receive(exchange, NOBODY)


@post("/users/{name}/inbox", **also_by_number("/users/{name}/inbox"))
async def receive_for_one(exchange: Exchange, name: FromPath[str]) -> Answer:
    owner = await people.find_person(exchange.work, name)
    await exchange.end_work(commit=False)
    return await _receive(exchange, owner.id)


@post("/actor/inbox")
async def receive_for_server(exchange: Exchange) -> Answer:
    return await _receive(exchange, NOBODY)


async def _receive(exchange: Exchange, delivered_to: AccountId) -> Answer:
    """Size, kind and signature come first; nothing is believed, and nothing is asked of others, before they are."""
    limiter, address = exchange.find(Limiter), address_key(exchange.address)
    limiter.spend(UNBELIEVED, address)
    body = await exchange.body(limits.DOCUMENT_BYTES)
    if not is_sent_type(exchange.header(b"content-type").decode("latin-1")):
        raise Malformed("Activities are sent as application/activity+json")
    request = verification.received(exchange, body)
    claim = read_claim(request, datetime.now(UTC))
    gate = exchange.find(Gate)
    await verification.check_domain(gate, claim.key_id.host)
    keys = exchange.find(KnownKeys)
    key = await keys.find(claim.key_id)
    if key is None:
        if await _is_farewell_of_a_stranger(exchange, body):
            return _ACCEPTED
        key = await keys.fetch(claim.key_id)
    signer = await verification.check(keys, gate, claim, key)
    limiter.unspend(UNBELIEVED, address)
    site = site_of_domain(signer.domain)
    limiter.spend(FROM_HOST, site)
    limiter.spend(KILOBYTES_FROM_HOST, site, kilobytes(len(body)))
    document = _parsed(body)
    if type_of(document, ACTIVITY_TYPES) is not None:
        row = _row(exchange, signer, document, body, delivered_to, _synchronization(request, claim))
        await exchange.find(Intake).keep(row, domain_of(signer.actor))
    return _ACCEPTED


async def _is_farewell_of_a_stranger(exchange: Exchange, body: bytes) -> bool:
    """Whether an actor of whom nothing is known here announces its own deletion: then there is nothing to delete.

    Nobody has been believed yet, so no more is read than farewells have.
    """
    if len(body) > LONGEST_FAREWELL:
        return False
    document = _parsed(body)
    actor = read_actor_id(document.get("actor"))
    if document.get("type") != "Delete" or actor is None:
        return False
    if without_fragment(read_object_id(document.get("object")) or "") != actor:
        return False
    return await accounts.find_by_uri(exchange.work.db, actor) is None


def _parsed(body: bytes) -> Document:
    try:
        return parse_document(body)
    except DocumentRefused as refused:
        raise Malformed(f"The document could not be read: {refused.reason}") from refused


def _synchronization(request: ReceivedRequest, claim: SignatureClaim) -> str | None:
    """The header, if it is part of what was signed."""
    value = request.fields.get(SYNCHRONIZATION)
    if value is None or len(value) > LONGEST_SYNCHRONIZATION:
        return None
    lines = (SYNCHRONIZATION + b": " + value, b'"' + SYNCHRONIZATION + b'": ' + value)
    is_signed = all(any(line in base.split(b"\n") for line in lines) for base in claim.bases)
    return value.decode("latin-1") if is_signed else None


def _row(
    exchange: Exchange,
    signer: Verified,
    document: Document,
    body: bytes,
    delivered_to: AccountId,
    synchronization: str | None,
) -> Received:
    works = exchange.server.works
    return Received(
        id=works.ids.new(),
        account_id=signer.account_id,
        activity_id=_name_of(document, body),
        delivered_to=delivered_to,
        body=body.decode(),
        size=len(body),
        synchronization=synchronization,
        state=WAITING,
        signed_at=signer.signed_at,
        received_at=datetime.now(UTC),
    )


def _name_of(document: Document, body: bytes) -> str | None:
    """By which it is known that the same comes again: two edits within a second may share an id, but say other things.

    Of an id that is too long for an index nothing is remembered.
    """
    found = read_id(document.get("id"))
    is_short = found is not None and len(found.encode()) <= LONGEST_INDEXED
    return f"{found} {crc32(body):x}" if is_short else None


routes = [receive_for_all, receive_for_one, receive_for_server]
