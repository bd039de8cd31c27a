from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from kith.base.db import UID, Instant, Session, any_of, command, insert_into, query
from kith.identity.factors.tables import TOTP, Factor, Passkey, codes, factors, passkeys, totp

_device = bindparam("device", type_=UID())
_now = bindparam("now", type_=Instant())
_of_user = query(
    select(factors)
    .where(and_(factors.c.user_id == bindparam("user"), factors.c.confirmed))
    .order_by(factors.c.created_at, factors.c.device_uuid),
    Factor,
)
_any = query(
    select(factors.c.device_uuid).where(and_(factors.c.user_id == bindparam("user"), factors.c.confirmed)).limit(1), str
)
_one = query(select(factors).where(factors.c.device_uuid == _device), Factor)
_insert = command(insert_into(factors))
_rename = command(
    update(factors)
    .where(and_(factors.c.device_uuid == _device, factors.c.user_id == bindparam("user")))
    .values(name=bindparam("new_name"))
)
_remove = command(delete(factors).where(and_(factors.c.device_uuid == _device, factors.c.user_id == bindparam("user"))))
_remove_kind = command(
    delete(factors).where(and_(factors.c.user_id == bindparam("user"), factors.c.kind == bindparam("which")))
)
# Every try is counted before it is checked, so that parallel tries are counted one by one.
_guess = command(
    update(factors)
    .where(and_(factors.c.device_uuid == _device, factors.c.failures == bindparam("seen")))
    .values(failures=factors.c.failures + 1, failed_at=_now)
)
_used = command(update(factors).where(factors.c.device_uuid == _device).values(last_used_at=_now))
_forgive = command(update(factors).where(factors.c.user_id == bindparam("user")).values(failures=0, failed_at=None))

_insert_totp = command(insert_into(totp))
_totp = query(select(totp).where(any_of(totp.c.device_uuid, "ids")), TOTP)
_use_step = command(
    update(totp)
    .where(and_(totp.c.device_uuid == _device, totp.c.last_step < bindparam("step")))
    .values(last_step=bindparam("step"))
)

_insert_codes = command(insert_into(codes))
_use_code = command(delete(codes).where(and_(codes.c.device_uuid == _device, codes.c.code_hash == bindparam("hash"))))
_codes_left = query(select(func.count()).select_from(codes).where(codes.c.device_uuid == _device), int)

_insert_passkey = command(insert_into(passkeys))
_passkeys = query(select(passkeys).where(any_of(passkeys.c.device_uuid, "ids")), Passkey)
_passkey = query(select(passkeys).where(passkeys.c.credential_id == bindparam("credential")), Passkey)
_use_passkey = command(
    update(passkeys)
    .where(
        and_(
            passkeys.c.device_uuid == _device,
            or_(
                passkeys.c.sign_count < bindparam("count"),
                and_(passkeys.c.sign_count == 0, bindparam("count") == 0),
            ),
        )
    )
    .values(sign_count=bindparam("count"))
)


async def of_user(db: Session, user_id: int) -> list[Factor]:
    return await db.all(_of_user, user=user_id)


async def has_any(db: Session, user_id: int) -> bool:
    return await db.one(_any, user=user_id) is not None


async def find(db: Session, device_uuid: str) -> Factor | None:
    return await db.one(_one, device=device_uuid)


async def insert(db: Session, factor: Factor) -> None:
    await db.run(_insert, **{name: getattr(factor, name) for name in Factor.__struct_fields__})


async def rename(db: Session, user_id: int, device_uuid: str, name: str) -> bool:
    return await db.run(_rename, device=device_uuid, user=user_id, new_name=name) == 1


async def remove(db: Session, user_id: int, device_uuid: str) -> bool:
    return await db.run(_remove, device=device_uuid, user=user_id) == 1


async def remove_kind(db: Session, user_id: int, kind: str) -> int:
    return await db.run(_remove_kind, user=user_id, which=kind)


async def guess(db: Session, factor: Factor, now: datetime) -> bool:
    """Count a try as wrong before it is checked; False if another try is being counted at this moment."""
    return await db.run(_guess, device=factor.device_uuid, seen=factor.failures, now=now) == 1


async def forgive(db: Session, user_id: int) -> None:
    await db.run(_forgive, user=user_id)


async def used(db: Session, device_uuid: str, now: datetime) -> None:
    await db.run(_used, device=device_uuid, now=now)


async def insert_totp(db: Session, device: TOTP) -> None:
    await db.run(_insert_totp, **{name: getattr(device, name) for name in TOTP.__struct_fields__})


async def totps(db: Session, device_uuids: Sequence[str]) -> list[TOTP]:
    return await db.all(_totp, ids=list(device_uuids))


async def use_step(db: Session, device_uuid: str, step: int) -> bool:
    """Mark a time step as used; False if it or a later one was used before."""
    return await db.run(_use_step, device=device_uuid, step=step) == 1


async def insert_codes(db: Session, device_uuid: str, hashes: Sequence[str]) -> None:
    await db.many(_insert_codes, [{"device_uuid": device_uuid, "code_hash": one} for one in hashes])


async def use_code(db: Session, device_uuid: str, code_hash: str) -> bool:
    return await db.run(_use_code, device=device_uuid, hash=code_hash) == 1


async def codes_left(db: Session, device_uuid: str) -> int:
    return await db.one(_codes_left, device=device_uuid) or 0


async def insert_passkey(db: Session, passkey: Passkey) -> None:
    await db.run(_insert_passkey, **{name: getattr(passkey, name) for name in Passkey.__struct_fields__})


async def passkeys_of(db: Session, device_uuids: Sequence[str]) -> list[Passkey]:
    return await db.all(_passkeys, ids=list(device_uuids))


async def find_passkey(db: Session, credential_id: str) -> Passkey | None:
    return await db.one(_passkey, credential=credential_id)


async def use_passkey(db: Session, device_uuid: str, sign_count: int) -> bool:
    """Store the signature counter; False if it did not grow. Devices without one always send zero."""
    return await db.run(_use_passkey, device=device_uuid, count=sign_count) == 1
