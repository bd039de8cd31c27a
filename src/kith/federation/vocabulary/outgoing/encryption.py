"""End-to-end encrypted messages: devices, keys that are claimed, and the messages themselves."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey

__all__ = ["claimed_key", "device", "devices", "message"]

DIGEST = "http://www.w3.org/2000/09/xmldsig#hmac-sha256"


def devices(actor: str, rows: Sequence[Device]) -> Doc:
    id = identifiers.collection(actor, "collections/devices")
    items = [device(actor, row) for row in rows]
    return {"id": id, "type": "Collection", "totalItems": len(items), "items": items}


def device(actor: str, row: Device) -> Doc:
    return {
        "type": "Device",
        "deviceId": row.device_id,
        "name": row.name,
        "claim": f"{actor}/claim?id={quote(row.device_id, safe='')}",
        "fingerprintKey": {"type": "Ed25519Key", "publicKeyBase64": row.fingerprint_key},
        "identityKey": {"type": "Curve25519Key", "publicKeyBase64": row.identity_key},
    }


def claimed_key(row: OneTimeKey) -> Doc:
    """The answer to a claim: a key that nobody else gets."""
    return {
        "keyId": row.key_id,
        "type": "Curve25519Key",
        "publicKeyBase64": row.key,
        "signature": {"type": "Ed25519Signature", "signatureValue": row.signature},
    }


def message(actor: str, target: str, row: EncryptedMessage, to_device: str) -> Doc:
    """A Create, for the inbox of `target` alone."""
    id = f"{actor}#encrypted_messages/{row.id}"
    said: Doc = {
        "id": id,
        "type": "EncryptedMessage",
        "attributedTo": {"type": "Device", "deviceId": row.from_device_id},
        "to": {"type": "Device", "deviceId": to_device},
        "messageType": row.type,
        "cipherText": row.body,
        "digest": {"type": "Digest", "digestAlgorithm": DIGEST, "digestValue": row.digest},
        "messageFranking": row.message_franking,
    }
    return {"id": f"{id}/activity", "type": "Create", "actor": actor, "to": [target], "object": said}
