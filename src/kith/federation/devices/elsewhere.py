"""Devices of people elsewhere, asked of their own server in the name of whoever wants to write to them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec

from kith.base.http import Outgoing, OutgoingError
from kith.base.work import Work, Works
from kith.federation.delivery.service import deliver
from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient, fetch_collection, fetch_items
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.gate.service import Gate
from kith.federation.keys import service as keys
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, SigningScheme, sign
from kith.federation.vocabulary.incoming import DocumentRefused, parse_document
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.federation.vocabulary.incoming.messages import IncomingDevice, read_device
from kith.federation.vocabulary.outgoing import encryption
from kith.social.accounts.tables import Account
from kith.social.encryption.keys import is_key, is_signature_of
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey
from kith.social.ids import AccountId

__all__ = ["RemoteDevices"]

MOST_DEVICES = 20
MOST_BYTES = 64 * 1024
SECONDS = 10.0
_TYPE = "application/activity+json"


class RemoteDevices:
    def __init__(self, works: Works) -> None:
        self._works = works

    async def devices_of(self, account: Account) -> list[Device]:
        return [_device(account, one) for one in await self._told(account)]

    async def claim(self, me: Account, account: Account, device_id: str) -> tuple[Device, OneTimeKey] | None:
        found = next((one for one in await self._told(account) if one.id == device_id), None)
        if found is None:
            return None
        try:
            key = _read_key(found, await self._post(me.id, found.claim))
        except (OutgoingError, DocumentRefused):
            return None
        return None if key is None else (_device(account, found), key)

    async def send(self, work: Work, me: Account, account: Account, device_id: str, message: EncryptedMessage) -> bool:
        """To their own inbox: what goes to everybody's would not say whose device is meant."""
        actor = await people.find_actor(work.db, account.id)
        if actor is None or actor.devices is None:
            return False
        made = encryption.message(me.uri, account.uri, message, device_id)
        await deliver(work, activity=made, sender=me.id, inboxes=[actor.inbox])
        return True

    async def _told(self, account: Account) -> list[IncomingDevice]:
        """The devices that their server lists; none where it does not answer, or says nonsense."""
        actor = await self._actor(account.id)
        if actor is None or actor.devices is None:
            return []
        client, signer = self._works.services[RemoteClient], self._works.services[OurSigner]
        chain = FetchChain()
        try:
            collection = await fetch_collection(client, actor.devices, chain=chain, signer=signer)
            items = await fetch_items(
                client, collection, most_pages=1, most_items=MOST_DEVICES, chain=chain, signer=signer
            )
        except FetchFailed:
            return []
        return _devices([one.document for one in items if one.document is not None], account.uri)

    async def _actor(self, account_id: AccountId) -> RemoteActor | None:
        work = self._works.open()
        try:
            return await people.find_actor(work.db, account_id)
        finally:
            await work.rollback()

    async def _post(self, me: AccountId, url: str) -> dict[str, Any]:
        """Signed by whoever wants the key."""
        if not await self._works.services[Gate].admits(domain_of(url)):
            return {}
        work = self._works.open()
        try:
            signer = await keys.signer(work, me)
        finally:
            await work.rollback()
        request = RequestToSign("POST", url, sha256(b""), {"content-type": _TYPE})
        headers = await asyncio.to_thread(sign, signer, request, SigningScheme.CAVAGE, datetime.now(UTC))
        outgoing: Outgoing = self._works.services[Outgoing]
        answer = await outgoing.request(
            "POST", url, headers=headers | {"accept": _TYPE}, body=b"", max_bytes=MOST_BYTES, timeout=SECONDS,
            max_redirects=None,
        )  # fmt: skip
        return parse_document(answer.body) if answer.status == 200 else {}


def _devices(documents: list[dict[str, Any]], actor: str) -> list[IncomingDevice]:
    found = []
    for one in documents:
        try:
            device = read_device(one, actor)
        except DocumentRefused:
            continue
        if is_key(device.fingerprint_key) and is_key(device.identity_key):
            found.append(device)
    return found


def _read_key(device: IncomingDevice, document: dict[str, Any]) -> OneTimeKey | None:
    """A key that the device itself has signed."""
    signature = document.get("signature")
    value = signature.get("signatureValue") if isinstance(signature, dict) else None
    given = (document.get("keyId"), document.get("publicKeyBase64"), value)
    try:
        key_id, key, signed = msgspec.convert(given, tuple[str, str, str])
    except msgspec.ValidationError:
        return None
    if len(key_id) > 255 or not is_key(key) or not is_signature_of(signed, key, by=device.fingerprint_key):
        return None
    return OneTimeKey(id=0, device_row=0, key_id=key_id, key=key, signature=signed)


def _device(account: Account, told: IncomingDevice) -> Device:
    """As one of ours is shown."""
    return Device(
        id=0,
        account_id=account.id,
        user_id=0,
        key_hash="",
        device_id=told.id,
        name=told.name,
        fingerprint_key=told.fingerprint_key,
        identity_key=told.identity_key,
        created_at=account.created_at,
    )
