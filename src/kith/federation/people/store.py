from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import Session, command, query, upsert
from kith.federation.people.tables import RemoteActor, actors
from kith.social.ids import AccountId

_find = query(select(actors).where(actors.c.account_id == bindparam("account")), RemoteActor)
_new = upsert(actors).values({column.name: bindparam(column.name, type_=column.type) for column in actors.c})
_save = command(
    _new.on_conflict_do_update(
        index_elements=["account_id"],
        set_={column.name: _new.excluded[column.name] for column in actors.c if not column.primary_key},
    ).inline()
)


async def find_actor(db: Session, account_id: AccountId) -> RemoteActor | None:
    return await db.one(_find, account=account_id)


async def save_actor(db: Session, actor: RemoteActor) -> None:
    await db.run(_save, **{name: getattr(actor, name) for name in RemoteActor.__struct_fields__})
