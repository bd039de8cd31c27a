from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, BindParameter, and_, bindparam, delete, func, select, update

from kith.base.db import Session, add_once, alias_of, any_of, any_row, command, insert_into, query
from kith.base.paging import Cursor
from kith.social.accounts.tables import accounts
from kith.social.encryption.tables import Device, EncryptedMessage, OneTimeKey, devices, messages, one_time_keys
from kith.social.id_lists import IdList
from kith.social.ids import AccountId
from kith.social.relationships.rules import ME, blocks, blocks_domain

_device: BindParameter[Any] = bindparam("device", type_=BigInteger())
_key_hash: BindParameter[Any] = bindparam("key_hash")
_of_token = query(select(devices).where(devices.c.key_hash == _key_hash), Device)
_named = query(
    select(devices).where(
        and_(devices.c.account_id == bindparam("account"), devices.c.device_id == bindparam("device_id"))
    ),
    Device,
)
_me = alias_of(accounts)
# Neither of those whom I block nor of those who block me, or my server.
_of_accounts = query(
    select(devices)
    .where(
        and_(
            any_of(devices.c.account_id, "ids"),
            ~blocks(ME, devices.c.account_id),
            ~blocks(devices.c.account_id, ME),
            ~any_row(_me, and_(_me.c.id == ME, blocks_domain(devices.c.account_id, _me.c.domain))),
        )
    )
    .order_by(devices.c.account_id, devices.c.id),
    Device,
)
_insert_device = command(insert_into(devices))
_rename = command(update(devices).where(devices.c.id == _device).values(name=bindparam("name")))
_drop = command(delete(devices).where(devices.c.id == _device))
_drop_of_token = command(delete(devices).where(devices.c.key_hash == _key_hash))
_drop_of_user = command(delete(devices).where(devices.c.user_id == bindparam("user")))

_add_key = command(add_once(one_time_keys))
_count_keys = query(select(func.count()).select_from(one_time_keys).where(one_time_keys.c.device_row == _device), int)
# Of any number who claim at once, each takes another key, and a key is taken by one of them.
_any_key = (
    select(one_time_keys.c.id)
    .where(one_time_keys.c.device_row == _device)
    .order_by(func.random())
    .limit(1)
    .with_for_update(skip_locked=True)
    .scalar_subquery()
)
_take_key = query(delete(one_time_keys).where(one_time_keys.c.id == _any_key).returning(one_time_keys), OneTimeKey)

_insert_message = command(insert_into(messages))
_message = query(select(messages).where(messages.c.id == bindparam("message")), EncryptedMessage)
_count_messages = query(
    select(messages.c.device_row, messages.c.from_account_id, func.coalesce(accounts.c.domain, ""), func.count())
    .select_from(messages.outerjoin(accounts, accounts.c.id == messages.c.from_account_id))
    .where(any_of(messages.c.device_row, "devices"))
    .group_by(messages.c.device_row, messages.c.from_account_id, accounts.c.domain),
    tuple,
)
_clear = command(delete(messages).where(and_(messages.c.device_row == _device, messages.c.id <= bindparam("up_to"))))
_inbox = IdList(select(messages).where(messages.c.device_row == _device), messages.c.id, row=EncryptedMessage)


async def find_device(db: Session, key_hash: str) -> Device | None:
    """The device of an access token."""
    return await db.one(_of_token, key_hash=key_hash)


async def find_named(db: Session, account_id: AccountId, device_id: str) -> Device | None:
    return await db.one(_named, account=account_id, device_id=device_id)


async def devices_of(db: Session, me: AccountId, ids: Sequence[AccountId]) -> list[Device]:
    return await db.all(_of_accounts, me=me, ids=list(ids)) if ids else []


async def insert_device(db: Session, device: Device) -> None:
    await db.run(_insert_device, **{name: getattr(device, name) for name in Device.__struct_fields__})


async def rename_device(db: Session, device: Device, name: str) -> None:
    await db.run(_rename, device=device.id, name=name)


async def drop_device(db: Session, device: Device) -> None:
    await db.run(_drop, device=device.id)


async def drop_of_token(db: Session, key_hash: str) -> None:
    await db.run(_drop_of_token, key_hash=key_hash)


async def drop_of_user(db: Session, user_id: int) -> None:
    await db.run(_drop_of_user, user=user_id)


async def add_key(db: Session, key: OneTimeKey) -> None:
    """A key that was handed in before, under the same id, stays as it is."""
    await db.run(_add_key, **{name: getattr(key, name) for name in OneTimeKey.__struct_fields__})


async def count_keys(db: Session, device: Device) -> int:
    return await db.one(_count_keys, device=device.id) or 0


async def take_key(db: Session, device: Device) -> OneTimeKey | None:
    return await db.one(_take_key, device=device.id)


async def insert_message(db: Session, message: EncryptedMessage) -> None:
    await db.run(_insert_message, **{name: getattr(message, name) for name in EncryptedMessage.__struct_fields__})


async def find_message(db: Session, message_id: int) -> EncryptedMessage | None:
    return await db.one(_message, message=message_id)


async def count_messages(db: Session, devices: Sequence[Device]) -> list[tuple[int, AccountId, str, int]]:
    """How many wait for each of them, from whom, and of which domain they are; empty for those who live here."""
    return await db.all(_count_messages, devices=[device.id for device in devices])


async def inbox_of(db: Session, device: Device, cursor: Cursor) -> list[EncryptedMessage]:
    statement, values = _inbox.form(cursor)
    found: list[EncryptedMessage] = await db.all(statement, device=device.id, **values)
    return cursor.newest_first(found)


async def clear(db: Session, device: Device, up_to: int) -> None:
    await db.run(_clear, device=device.id, up_to=up_to)
