"""Endorsements, and notes for oneself."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, delete

from kith.base.db import Session, add_once, command, upsert
from kith.social.ids import AccountId
from kith.social.relationships.store.common import ME, OTHER, pair
from kith.social.relationships.tables import account_notes, endorsements

_add_endorsement = command(add_once(endorsements))
_drop_endorsement = command(delete(endorsements).where(pair(endorsements)))
_new_note = upsert(account_notes).values(account_id=ME, target_id=OTHER, comment=bindparam("comment"))
_save_note = command(
    _new_note.on_conflict_do_update(
        index_elements=[account_notes.c.account_id, account_notes.c.target_id],
        set_={"comment": _new_note.excluded.comment},
    ).inline()
)
_drop_note = command(delete(account_notes).where(pair(account_notes)))


async def endorse(db: Session, me: AccountId, other: AccountId, *, id: int, now: datetime) -> bool:
    return await db.run(_add_endorsement, id=id, account_id=me, target_id=other, created_at=now) == 1


async def unendorse(db: Session, me: AccountId, other: AccountId) -> bool:
    return await db.run(_drop_endorsement, me=me, other=other) == 1


async def save_note(db: Session, me: AccountId, other: AccountId, comment: str) -> None:
    """An empty note is none."""
    if comment:
        await db.run(_save_note, me=me, other=other, comment=comment)
    else:
        await db.run(_drop_note, me=me, other=other)
