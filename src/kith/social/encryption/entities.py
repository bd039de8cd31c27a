from __future__ import annotations

from typing import Any

from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey
from kith.social.ids import AccountId
from kith.social.moments import moment


def render_device(device: Device) -> dict[str, Any]:
    return {
        "device_id": device.device_id,
        "name": device.name,
        "identity_key": device.identity_key,
        "fingerprint_key": device.fingerprint_key,
    }


def render_devices(account_id: AccountId, devices: list[Device]) -> dict[str, Any]:
    return {"account_id": str(account_id), "devices": [render_device(device) for device in devices]}


def render_claimed(device: Device, key: OneTimeKey) -> dict[str, Any]:
    return {
        "account_id": str(device.account_id),
        "device_id": device.device_id,
        "key_id": key.key_id,
        "key": key.key,
        "signature": key.signature,
    }


def render_message(message: EncryptedMessage) -> dict[str, Any]:
    return {
        "id": str(message.id),
        "account_id": str(message.from_account_id),
        "device_id": message.from_device_id,
        "type": message.type,
        "body": message.body,
        "digest": message.digest,
        "message_franking": message.message_franking,
        "created_at": moment(message.created_at),
    }
