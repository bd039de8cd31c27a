"""What posts said before they were edited."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, delete, func, select

from kith.base.db import Session, command, insert_into, query
from kith.social.ids import StatusId
from kith.social.statuses.tables import Edit, edits

_latest = select(edits.c.id).where(edits.c.status_id == bindparam("status")).order_by(edits.c.id.desc())
_drop_latest = command(delete(edits).where(edits.c.id == _latest.limit(1).scalar_subquery()))
_insert_edit = command(insert_into(edits))
_of_status = edits.c.status_id == bindparam("status")
_edits_before = query(
    select(edits)
    .where(and_(_of_status, edits.c.id < bindparam("before")))
    .order_by(edits.c.id.desc())
    .limit(bindparam("most")),
    Edit,
)
_first = query(select(edits).where(_of_status).order_by(edits.c.id).limit(1), Edit)
_files = query(select(edits.c.media).where(_of_status), list)
_count = query(select(func.count()).select_from(edits).where(_of_status), int)


async def insert_edit(db: Session, edit: Edit) -> None:
    await db.run(_insert_edit, **{name: getattr(edit, name) for name in Edit.__struct_fields__})


async def edits_before(db: Session, status_id: StatusId, before: int, most: int) -> list[Edit]:
    """Newest first."""
    return await db.all(_edits_before, status=status_id, before=before, most=most)


async def first_edit(db: Session, status_id: StatusId) -> Edit | None:
    """What the post said at first; nothing of one that was never edited."""
    return await db.one(_first, status=status_id)


async def count_edits(db: Session, status_id: StatusId) -> int:
    return await db.one(_count, status=status_id) or 0


async def replace_latest(db: Session, edit: Edit) -> None:
    """In place of the last that is kept, where enough are."""
    await db.run(_drop_latest, status=edit.status_id)
    await insert_edit(db, edit)


async def files_of_edits(db: Session, status_id: StatusId) -> set[int]:
    """Which attachments the post had in what is kept of it."""
    return {int(one["id"]) for attached in await db.all(_files, status=status_id) for one in attached}
