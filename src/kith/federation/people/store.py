from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update

from kith.base.db import Instant, Session, any_of, command, query, upsert
from kith.federation.people.tables import RemoteActor, RemoteActorKey, actor_keys, actors
from kith.federation.vocabulary.incoming.keys import is_part_of
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId

_find = query(select(actors).where(actors.c.account_id == bindparam("account")), RemoteActor)
_new = upsert(actors).values({column.name: bindparam(column.name, type_=column.type) for column in actors.c})
_save = command(
    _new.on_conflict_do_update(
        index_elements=["account_id"],
        set_={column.name: _new.excluded[column.name] for column in actors.c if not column.primary_key},
    ).inline()
)
_filled = command(
    update(actors)
    .where(actors.c.account_id == bindparam("account"))
    .values(filled_at=bindparam("now", type_=Instant()))
)
_fetched = command(
    update(accounts).where(accounts.c.id == bindparam("account")).values(fetched_at=bindparam("now", type_=Instant()))
)
_moved = command(
    update(actors).where(actors.c.account_id == bindparam("account")).values(moved_at=bindparam("now", type_=Instant()))
)
_stale = query(
    select(accounts.c.id)
    .join(actors, actors.c.account_id == accounts.c.id)
    .where(
        and_(
            accounts.c.deleted_at.is_(None),
            or_(accounts.c.fetched_at.is_(None), accounts.c.fetched_at < bindparam("before", type_=Instant())),
            accounts.c.last_status_at > bindparam("since", type_=Instant()),
        )
    )
    .order_by(accounts.c.fetched_at, accounts.c.id)
    .limit(bindparam("most")),
    AccountId,
)


_anybody_at = query(select(accounts.c.id).where(accounts.c.domain == bindparam("domain")).limit(1), int)


async def knows_anybody_at(db: Session, domain: str) -> bool:
    return await db.one(_anybody_at, domain=domain) is not None


async def find_actor(db: Session, account_id: AccountId) -> RemoteActor | None:
    return await db.one(_find, account=account_id)


async def save_actor(db: Session, actor: RemoteActor) -> None:
    await db.run(_save, **msgspec.structs.asdict(actor))


async def filled(db: Session, account_id: AccountId, now: datetime) -> None:
    await db.run(_filled, account=account_id, now=now)


async def moved(db: Session, account_id: AccountId, now: datetime) -> None:
    await db.run(_moved, account=account_id, now=now)


async def fetched(db: Session, account_id: AccountId, now: datetime) -> None:
    """It was asked for, whatever came of it; nothing that is shown of it changes."""
    await db.run(_fetched, account=account_id, now=now)


async def stale(db: Session, *, before: datetime, since: datetime, most: int) -> list[AccountId]:
    """Those that were not fetched for long although they have posted lately, the oldest first."""
    return await db.slow(_stale, before=before, since=since, most=most)


# Keys

_key = query(select(actor_keys).where(actor_keys.c.id == bindparam("key")), RemoteActorKey)
_keys = query(
    select(actor_keys).where(actor_keys.c.account_id == bindparam("account")).order_by(actor_keys.c.id), RemoteActorKey
)
_keys_at = query(
    select(actor_keys)
    .join(accounts, accounts.c.id == actor_keys.c.account_id)
    .where(accounts.c.uri == bindparam("uri"))
    .limit(2),
    RemoteActorKey,
)
_new_key = upsert(actor_keys).values(
    {column.name: bindparam(column.name, type_=column.type) for column in actor_keys.c}
)
_save_key = command(
    _new_key.on_conflict_do_update(
        index_elements=["id"],
        set_={column.name: _new_key.excluded[column.name] for column in actor_keys.c if not column.primary_key},
    ).inline()
)
_drop_others = command(
    delete(actor_keys).where(and_(actor_keys.c.account_id == bindparam("account"), ~any_of(actor_keys.c.id, "ids")))
)


async def find_key(db: Session, key_id: str) -> RemoteActorKey | None:
    return await db.one(_key, key=key_id)


async def find_signing_key(db: Session, key_id: str) -> RemoteActorKey | None:
    """By its name, or by that of its actor, where this has just one key and in its own document."""
    found = await find_key(db, key_id)
    if found is not None or "#" in key_id:
        return found
    keys = await db.all(_keys_at, uri=key_id)
    return keys[0] if len(keys) == 1 and is_part_of(keys[0].id, key_id) else None


async def keys_of_account(db: Session, account_id: AccountId) -> list[RemoteActorKey]:
    return await db.all(_keys, account=account_id)


async def set_keys(db: Session, account_id: AccountId, keys: Sequence[RemoteActorKey]) -> None:
    """All keys that an account has from now on."""
    await db.run(_drop_others, account=account_id, ids=[one.id for one in keys])
    for one in keys:
        await db.run(_save_key, **msgspec.structs.asdict(one))
