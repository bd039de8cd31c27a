"""Encrypted messages from device to device, and the devices that an actor lists."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import read_count, read_text
from kith.federation.vocabulary.incoming.ids import read_id, same_domain
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["IncomingDevice", "IncomingMessage", "read_device", "read_message"]

_NAME_LENGTH = 255
_KEY_LENGTH = 1024
_FRANKING_LENGTH = 16 * 1024


class IncomingMessage(msgspec.Struct, frozen=True, kw_only=True):
    sender_device: str
    recipient_device: str
    message_type: int
    cipher_text: str
    digest: str
    franking: str


class IncomingDevice(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    claim: str
    fingerprint_key: str
    identity_key: str


def read_message(document: Document) -> IncomingMessage:
    """Nothing of it may be cut: what is too long is refused."""
    sender, recipient = _device_id(document.get("attributedTo")), _device_id(document.get("to"))
    if sender is None:
        raise DocumentRefused("no_author", "no device")
    if recipient is None:
        raise DocumentRefused("no_target", "no device")
    cipher_text = _whole(document.get("cipherText"), limits.CIPHER_TEXT_LENGTH)
    digest = document.get("digest")
    digest_value = _whole(digest.get("digestValue"), _KEY_LENGTH) if isinstance(digest, dict) else ""
    if not cipher_text or not digest_value:
        raise DocumentRefused("no_content", "neither text nor digest may be missing")
    return IncomingMessage(
        sender_device=sender,
        recipient_device=recipient,
        message_type=read_count(document.get("messageType")) or 0,
        cipher_text=cipher_text,
        digest=digest_value,
        franking=_whole(document.get("messageFranking"), _FRANKING_LENGTH),
    )


def read_device(document: Document, actor: str) -> IncomingDevice:
    """One of the items of an actor's `devices`. Keys are claimed on the actor's own host."""
    device, claim = _whole(document.get("deviceId"), _NAME_LENGTH), read_id(document.get("claim"))
    if document.get("type") != "Device" or not device:
        raise DocumentRefused("unknown_type", "no device")
    if claim is None:
        raise DocumentRefused("no_link", "no address to claim keys at")
    if not same_domain(claim, actor):
        raise DocumentRefused("wrong_host", claim)
    fingerprint, identity = (_key(document.get(name)) for name in ("fingerprintKey", "identityKey"))
    if not fingerprint or not identity:
        raise DocumentRefused("no_key", device)
    return IncomingDevice(
        id=device,
        name=read_text(document.get("name"), _NAME_LENGTH),
        claim=claim,
        fingerprint_key=fingerprint,
        identity_key=identity,
    )


def _device_id(value: Any) -> str | None:
    return (_whole(value.get("deviceId"), _NAME_LENGTH) or None) if isinstance(value, dict) else None


def _key(value: Any) -> str:
    return _whole(value.get("publicKeyBase64"), _KEY_LENGTH) if isinstance(value, dict) else ""


def _whole(value: Any, most: int) -> str:
    text = read_text(value)
    return text if len(text) <= most else ""
