"""What posts said before they were edited."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from kith.base.db import Session, command, insert_into, query
from kith.social.ids import StatusId
from kith.social.statuses.tables import Edit, edits

_latest = select(edits.c.id).where(edits.c.status_id == bindparam("status")).order_by(edits.c.id.desc())
_drop_latest = command(delete(edits).where(edits.c.id == _latest.limit(1).scalar_subquery()))
_insert_edit = command(insert_into(edits))
_edits_of = query(select(edits).where(edits.c.status_id == bindparam("status")).order_by(edits.c.id), Edit)


async def insert_edit(db: Session, edit: Edit) -> None:
    await db.run(_insert_edit, **{name: getattr(edit, name) for name in Edit.__struct_fields__})


async def edits_of(db: Session, status_id: StatusId) -> list[Edit]:
    return await db.all(_edits_of, status=status_id)


async def replace_latest(db: Session, edit: Edit) -> None:
    """In place of the last that is kept, where enough are."""
    await db.run(_drop_latest, status=edit.status_id)
    await insert_edit(db, edit)
