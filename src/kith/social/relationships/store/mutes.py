"""Who mutes whom, and until when."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Session, command, query, upsert
from kith.social.ids import AccountId
from kith.social.relationships.rules import lasts
from kith.social.relationships.store.common import NOW, drop, pair
from kith.social.relationships.tables import Mute, mutes

_new_mute = upsert(mutes).values({column.name: bindparam(column.name, type_=column.type) for column in mutes.columns})
_save_mute = command(
    _new_mute.on_conflict_do_update(
        index_elements=[mutes.c.account_id, mutes.c.target_id],
        set_={
            "hide_notifications": _new_mute.excluded.hide_notifications,
            "expires_at": _new_mute.excluded.expires_at,
        },
    ).inline()
)
_drop_mute = drop(mutes, Mute)
_muting = query(select(mutes.c.id).where(and_(pair(mutes), lasts(mutes))), int)
_ended_mutes = query(
    delete(mutes)
    .where(mutes.c.id.in_(select(mutes.c.id).where(mutes.c.expires_at <= NOW).limit(bindparam("most"))))
    .returning(mutes.c.account_id, mutes.c.target_id),
    tuple,
)


async def is_muting(db: Session, me: AccountId, other: AccountId, now: datetime) -> bool:
    return await db.one(_muting, me=me, other=other, now=now) is not None


async def save_mute(db: Session, mute: Mute) -> None:
    """There is one at most; a second changes the first."""
    await db.run(_save_mute, **{name: getattr(mute, name) for name in Mute.__struct_fields__})


async def drop_mute(db: Session, me: AccountId, other: AccountId) -> Mute | None:
    found: Mute | None = await db.one(_drop_mute, me=me, other=other)
    return found


async def end_mutes(db: Session, now: datetime, most: int) -> list[tuple[AccountId, AccountId]]:
    """Remove the mutes whose time is over: who muted whom."""
    return await db.all(_ended_mutes, now=now, most=most)
