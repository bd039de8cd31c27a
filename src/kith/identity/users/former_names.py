"""Names that people had who were deleted or are called otherwise now.

Policies, groups of services and what others remember know people by their names. So nobody takes such a name for
themselves; staff, commands, and services and directories that write people here can give it again.
"""

from __future__ import annotations

import hashlib

from sqlalchemy import and_, bindparam, select

from kith.base.db import Session, command, query, upsert
from kith.identity.users.names import username_key
from kith.identity.users.tables import former_names, users

# Whoever never came in has left their name to nobody's memory.
_key_of = query(
    select(users.c.username_key).where(
        users.c.id == bindparam("user"), users.c.confirmed_at.is_not(None), users.c.approved_at.is_not(None)
    ),
    str,
)
_new = upsert(former_names).values(name_hash=bindparam("hash"), user_id=bindparam("user"))
_keep = command(
    _new.on_conflict_do_update(
        index_elements=[former_names.c.name_hash], set_={"user_id": _new.excluded.user_id}
    ).inline()
)
_had = query(
    select(former_names.c.user_id).where(
        and_(former_names.c.name_hash == bindparam("hash"), former_names.c.user_id != bindparam("user"))
    ),
    int,
)


async def keep(db: Session, user_id: int) -> None:
    """Remember what somebody is called now; to be called before they are deleted or renamed."""
    key = await db.one(_key_of, user=user_id)
    if key is not None:
        await db.run(_keep, hash=_hash(key), user=user_id)


async def is_of_another(db: Session, name: str, user_id: int | None = None) -> bool:
    """Whether somebody else was called so; `user_id` is None for whoever is new."""
    return await db.one(_had, hash=_hash(username_key(name)), user=-1 if user_id is None else user_id) is not None


def _hash(key: str) -> str:
    """Of whoever is deleted nothing stays that can be read."""
    return hashlib.sha256(key.encode()).hexdigest()
