"""What posts said before they were edited."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from kith.base.db import Session, command, insert_into, query
from kith.social.ids import StatusId
from kith.social.statuses.tables import Edit, edits

_insert_edit = command(insert_into(edits))
_edits_of = query(select(edits).where(edits.c.status_id == bindparam("status")).order_by(edits.c.id), Edit)


async def insert_edit(db: Session, edit: Edit) -> None:
    await db.run(_insert_edit, **{name: getattr(edit, name) for name in Edit.__struct_fields__})


async def edits_of(db: Session, status_id: StatusId) -> list[Edit]:
    return await db.all(_edits_of, status=status_id)
