"""Devices, their keys, and the messages that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.encryption import store
from kith.social.encryption.elsewhere import DevicesElsewhere
from kith.social.encryption.facts import EncryptedMessageCame
from kith.social.encryption.franking import Franking, seal
from kith.social.encryption.keys import is_key, is_signature_of
from kith.social.encryption.shares import InboxRoom, spend_claim
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships

MOST_KEYS = 200  # that wait for a device to be claimed
MOST_ELSEWHERE = 10  # who are asked for at other servers in one call
LONGEST_NAME = 255
LONGEST_BODY = 32_768
LONGEST_DIGEST = 256
NOT_A_KEY = Complaint("is not a valid Ed25519 or Curve25519 key", "invalid")
NOT_A_SIGNATURE = Complaint("is not a valid Ed25519 signature", "invalid")


class Owner(msgspec.Struct, frozen=True):
    """Whose device it is, and by which access token it acts."""

    account_id: AccountId
    user_id: int
    key_hash: str


class NewDevice(msgspec.Struct, kw_only=True):
    device_id: str = ""
    name: str = ""
    fingerprint_key: str = ""
    identity_key: str = ""


class NewKey(msgspec.Struct, kw_only=True):
    key_id: str = ""
    key: str = ""
    signature: str = ""


class Target(msgspec.Struct, kw_only=True):
    """Somebody's device, as a client names it."""

    account_id: int
    device_id: str


class MessageDelivery(msgspec.Struct, kw_only=True):
    account_id: int
    device_id: str
    type: int = 0
    body: str = ""
    hmac: str = ""


async def find_own(work: Work, key_hash: str) -> Device:
    """The device of a token, which must have handed in its keys before."""
    device = await store.find_device(work.db, key_hash)
    if device is None:
        raise NotFound
    return device


async def upload(work: Work, owner: Owner, new: NewDevice, keys: Sequence[NewKey]) -> Device:
    """The device of this token and further one-time keys for it.

    With another id or other keys it is another device: what was kept for the old one is for nobody any more. An id
    that another token of the same account had moves to this one.
    """
    _check(new)
    _check_keys(new, keys)
    await work.db.hold(f"devices:{owner.account_id}")
    device = await _put_device(work, owner, new)
    for one in keys:
        await store.add_key(
            work.db,
            OneTimeKey(id=work.new_id(), device_row=device.id, key_id=one.key_id, key=one.key, signature=one.signature),
        )
    if await store.count_keys(work.db, device) > MOST_KEYS:  # those that were handed in before count once
        raise Invalid(fields={"one_time_keys": [Complaint(f"are limited to {MOST_KEYS} for a device", "too_many")]})
    return device


async def _put_device(work: Work, owner: Owner, new: NewDevice) -> Device:
    before = await store.find_device(work.db, owner.key_hash)
    if before is not None and _is_same(before, new):
        await store.rename_device(work.db, before, new.name)
        return msgspec.structs.replace(before, name=new.name)
    other = await store.find_named(work.db, owner.account_id, new.device_id)
    for old in (before, other):
        if old is not None:
            await store.drop_device(work.db, old)
    device = Device(
        id=work.new_id(),
        account_id=owner.account_id,
        user_id=owner.user_id,
        key_hash=owner.key_hash,
        device_id=new.device_id,
        name=new.name,
        fingerprint_key=new.fingerprint_key,
        identity_key=new.identity_key,
        created_at=work.now,
    )
    await store.insert_device(work.db, device)
    return device


def _is_same(device: Device, new: NewDevice) -> bool:
    return (device.device_id, device.fingerprint_key, device.identity_key) == (
        new.device_id,
        new.fingerprint_key,
        new.identity_key,
    )


def _check(new: NewDevice) -> None:
    wrong: dict[str, list[str]] = {}
    for field in ("device_id", "name"):
        _check_name(wrong, field, getattr(new, field))
    for field in ("fingerprint_key", "identity_key"):
        if not is_key(getattr(new, field)):
            wrong[field] = [NOT_A_KEY]
    if wrong:
        raise Invalid(fields=wrong)


def _check_keys(device: NewDevice, keys: Sequence[NewKey]) -> None:
    if len(keys) > MOST_KEYS:
        raise Invalid(fields={"one_time_keys": [Complaint(f"are limited to {MOST_KEYS} for a device", "too_many")]})
    for one in keys:
        wrong: dict[str, list[str]] = {}
        _check_name(wrong, "key_id", one.key_id)
        if not is_key(one.key):
            wrong["key"] = [NOT_A_KEY]
        if not is_signature_of(one.signature, one.key, by=device.fingerprint_key):
            wrong["signature"] = [NOT_A_SIGNATURE]
        if wrong:
            raise Invalid(fields=wrong)


def _check_name(wrong: dict[str, list[str]], field: str, text: str) -> None:
    if not text:
        wrong[field] = [Complaint("can't be blank", "blank")]
    elif len(text) > LONGEST_NAME:
        wrong[field] = [Complaint(f"is too long (maximum is {LONGEST_NAME} characters)", "too_long")]


async def devices_of(work: Work, me: AccountId, ids: Sequence[AccountId]) -> dict[AccountId, list[Device]]:
    """Of everybody who is there; none of those who block me, or whom I block, and none whose token has run out.

    Devices of people elsewhere are asked for there.
    """
    known = await accounts.find_all(work.db, ids)
    found: dict[AccountId, list[Device]] = {id: [] for id in ids if id in known and _is_there(known[id])}
    for device in await _here(work, me, list(found)):
        found[device.account_id].append(device)
    away = [known[id] for id in found if not known[id].is_local][:MOST_ELSEWHERE]
    away = [one for one in away if not await relationships.blocks_between(work.db, me, one.id)]
    port = work.find(DevicesElsewhere)  # type: ignore[type-abstract]
    told = await asyncio.gather(*(port.devices_of(one) for one in away))
    return found | {one.id: devices for one, devices in zip(away, told, strict=True)}


async def _here(work: Work, me: AccountId, ids: Sequence[AccountId]) -> list[Device]:
    devices = await store.devices_of(work.db, me, ids)
    live = await identity.still_open(work, [device.key_hash for device in devices]) if devices else set()
    return [device for device in devices if device.key_hash in live]


async def claim(work: Work, me: AccountId, targets: Sequence[Target]) -> list[tuple[Device, OneTimeKey]]:
    """One key of each device. A device without any, and one that is not there, is left out."""
    taken = await _claim_elsewhere(work, me, targets)  # first: nobody is asked while something is written
    devices = [device for device in await _find(work, me, targets) if device is not None]
    claimant = await accounts.find(work.db, me) if devices else None
    for device in devices:
        if claimant is None:
            break
        spend_claim(work, claimant, device)
        key = await store.take_key(work.db, device)
        if key is not None:
            taken.append((device, key))
    return taken


async def _claim_elsewhere(work: Work, me: AccountId, targets: Sequence[Target]) -> list[tuple[Device, OneTimeKey]]:
    away = (await _away(work, me, targets))[:MOST_ELSEWHERE]
    own = await accounts.find(work.db, me) if away else None
    if own is None:
        return []
    port = work.find(DevicesElsewhere)  # type: ignore[type-abstract]
    claimed = await asyncio.gather(*(port.claim(own, account, one.device_id) for account, one in away))
    return [one for one in claimed if one is not None]


Named = TypeVar("Named", Target, MessageDelivery)


async def _away(work: Work, me: AccountId, named: Sequence[Named]) -> list[tuple[Account, Named]]:
    """Those that are at other servers, with whom they are named; nobody whom I block, or who blocks me."""
    known = await accounts.find_all(work.db, list({AccountId(one.account_id) for one in named}))
    away = {one.id: one for one in known.values() if not one.is_local and _is_there(one)}
    open_to = {id for id in away if not await relationships.blocks_between(work.db, me, id)}
    return [(away[AccountId(one.account_id)], one) for one in named if one.account_id in open_to]


async def deliver(work: Work, me: AccountId, source: Device, deliveries: Sequence[MessageDelivery]) -> None:
    """Each into its device's inbox, or on its way to another server, or none at all."""
    for one in deliveries:
        _check_delivery(one)
    away = await _away(work, me, deliveries)
    here = [one for one in deliveries if not any(one is other for _, other in away)]
    targets = [Target(account_id=one.account_id, device_id=one.device_id) for one in here]
    devices = [device for device in await _find(work, me, targets) if device is not None]
    if len(devices) < len(here):
        raise NotFound
    await _send_away(work, me, source, away)
    for id in sorted({device.id for device in devices}):  # in one order, so that nobody waits for each other
        await work.db.hold(f"inbox:{id}")
    room, sender = await InboxRoom.of(work, devices), await accounts.find(work.db, me)
    for device, one in zip(devices, here, strict=True):
        if sender is None or not room.take(device, sender):
            raise Invalid(fields={"device": [Complaint("has too many messages that it has not fetched", "too_many")]})
        await _put(work, me, source.device_id, device, one)


async def _send_away(
    work: Work, me: AccountId, source: Device, away: Sequence[tuple[Account, MessageDelivery]]
) -> None:
    own = await accounts.find(work.db, me) if away else None
    port = work.find(DevicesElsewhere)  # type: ignore[type-abstract]
    for account, one in away:
        message = _message(work, me, source.device_id, account.id, one, row=0)
        if own is None or not await port.send(work, own, account, one.device_id, message):
            raise NotFound


def _check_delivery(one: MessageDelivery) -> None:
    wrong: dict[str, list[str]] = {}
    for field, text, most in (("body", one.body, LONGEST_BODY), ("hmac", one.hmac, LONGEST_DIGEST)):
        if not text:
            wrong[field] = [Complaint("can't be blank", "blank")]
        elif len(text) > most:
            wrong[field] = [Complaint(f"is too long (maximum is {most} characters)", "too_long")]
    if not 0 <= one.type < 1 << 31:
        wrong["type"] = [Complaint("is not a number", "invalid")]
    if wrong:
        raise Invalid(fields=wrong)


async def deliver_from_elsewhere(
    work: Work, sender: Account, source: str, one: MessageDelivery, original_franking: str | None
) -> bool:
    """From a device that another server knows. False where it cannot be put: no such device, or too much waits."""
    _check_delivery(one)
    [device] = await _find(work, sender.id, [Target(account_id=one.account_id, device_id=one.device_id)])
    if device is None:
        return False
    await work.db.hold(f"inbox:{device.id}")
    if not (await InboxRoom.of(work, [device])).take(device, sender):
        return False
    await _put(work, sender.id, source, device, one, original_franking)
    return True


async def _put(
    work: Work,
    me: AccountId,
    source: str,
    device: Device,
    one: MessageDelivery,
    original_franking: str | None = None,
) -> None:
    message = _message(work, me, source, device.account_id, one, row=device.id, original=original_franking)
    await store.insert_message(work.db, message)
    work.announce(EncryptedMessageCame(message_id=message.id, account_id=device.account_id, key_hash=device.key_hash))


def _message(
    work: Work,
    me: AccountId,
    source: str,
    target: AccountId,
    one: MessageDelivery,
    *,
    row: int,
    original: str | None = None,
) -> EncryptedMessage:
    franking = Franking(
        hmac=one.hmac, source_account_id=me, target_account_id=target, timestamp=work.now, original_franking=original
    )
    return EncryptedMessage(
        id=work.new_id(),
        device_row=row,
        from_account_id=me,
        from_device_id=source,
        type=one.type,
        body=one.body,
        digest=one.hmac,
        message_franking=seal(work.find(Keys).encryption, franking, work.now),
        created_at=work.now,
    )


async def _find(work: Work, me: AccountId, targets: Sequence[Target]) -> list[Device | None]:
    """The devices that a client names, in its order; None for one that is not there for this caller."""
    ids = [AccountId(one.account_id) for one in targets]
    found = await accounts.find_all(work.db, list(dict.fromkeys(ids)))
    there = [id for id, account in found.items() if _is_there(account)]
    known = {(device.account_id, device.device_id): device for device in await _here(work, me, there)}
    return [known.get((AccountId(one.account_id), one.device_id)) for one in targets]


def _is_there(account: Account) -> bool:
    return account.is_listed and not account.is_gone
