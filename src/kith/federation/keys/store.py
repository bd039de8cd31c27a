from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, bindparam, delete, select, update

from kith.base.db import Session, command, insert_into, query
from kith.federation.keys.tables import ActorKey, keys
from kith.social.ids import AccountId

_account: BindParameter[Any] = bindparam("account")
_of_account = query(select(keys).where(keys.c.account_id == _account), ActorKey)
_of_server = query(select(keys).where(keys.c.account_id.is_(None)), ActorKey)
_insert = command(insert_into(keys))
_delete = command(delete(keys).where(keys.c.id == bindparam("id")))
_delete_of = command(delete(keys).where(keys.c.account_id == _account))
_forget_previous = command(update(keys).where(keys.c.id == bindparam("key")).values(previous_key=None))


async def find(db: Session, owner: AccountId | None) -> ActorKey | None:
    """The key pair of an account, or of the server itself."""
    if owner is None:
        return await db.one(_of_server)
    return await db.one(_of_account, account=owner)


async def insert(db: Session, new: ActorKey) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in ActorKey.__struct_fields__})


async def replace(db: Session, old: ActorKey, new: ActorKey) -> None:
    await db.run(_delete, id=old.id)
    await insert(db, new)


async def forget_previous(db: Session, key_id: int) -> None:
    await db.run(_forget_previous, key=key_id)


async def delete_of(db: Session, account_id: AccountId) -> None:
    await db.run(_delete_of, account=account_id)
