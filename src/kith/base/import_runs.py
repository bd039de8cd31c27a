"""Runs of `kith import`: how far each has come, and what it left out. A batch and its mark are one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    String,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    select,
    update,
)

from kith.base.db import ID, METADATA, Document, Instant, Session, command, insert_into, query, upsert

__all__ = [
    "ImportRun",
    "LeftOutRow",
    "add_left_out",
    "add_record",
    "begin",
    "find_unfinished",
    "finish",
    "left_out",
    "marks",
    "records",
    "set_mark",
]

imports = Table(
    "base_imports",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("kind", String(20), nullable=False),
    Column("source", Text, nullable=False),  # what it reads, without secrets: another source is another run
    Column("options", Document, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("finished_at", Instant),
    Index("ix_base_imports_source", "kind", "source"),
)
import_marks = Table(
    "base_import_marks",
    METADATA,
    Column("import_id", BigInteger, ForeignKey("base_imports.id", ondelete="CASCADE"), primary_key=True),
    Column("step", String(60), primary_key=True),
    Column("place", BigInteger, nullable=False),  # everything up to here is done
    Column("taken", BigInteger, nullable=False),
)
import_left_out = Table(
    "base_import_left_out",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("import_id", BigInteger, ForeignKey("base_imports.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("step", String(60), nullable=False),
    Column("name", Text, nullable=False),  # by which the row is found where it came from
    Column("reason", Text, nullable=False),
)

import_records = Table(
    "base_import_records",
    METADATA,
    Column("origin", String(64), primary_key=True),  # the server it came from, whatever it was read from
    Column("model", String(120), primary_key=True),
    Column("old", String(100), primary_key=True),  # its key there
    Column("new", String(100), nullable=False),  # and here
)


class ImportRun(msgspec.Struct):
    id: int
    kind: str
    source: str
    options: dict[str, Any]
    started_at: datetime
    finished_at: datetime | None


class LeftOutRow(msgspec.Struct):
    """A row of the source that has not been taken over, and why."""

    step: str
    name: str
    reason: str


_begin = command(insert_into(imports))
_unfinished = query(
    select(imports)
    .where(
        and_(
            imports.c.kind == bindparam("kind"),
            imports.c.source == bindparam("source"),
            imports.c.finished_at.is_(None),
        )
    )
    .order_by(imports.c.id.desc())
    .limit(1),
    ImportRun,
)
_finish = command(
    update(imports).where(imports.c.id == bindparam("run")).values(finished_at=bindparam("now", type_=Instant()))
)
_marks = query(
    select(import_marks.c.step, import_marks.c.place, import_marks.c.taken).where(
        import_marks.c.import_id == bindparam("run")
    ),
    tuple,
)
_new_mark = upsert(import_marks).values(
    import_id=bindparam("import_id"), step=bindparam("step"), place=bindparam("place"), taken=bindparam("taken")
)
_set_mark = command(
    _new_mark.on_conflict_do_update(
        index_elements=[import_marks.c.import_id, import_marks.c.step],
        set_={"place": _new_mark.excluded.place, "taken": _new_mark.excluded.taken},
    ).inline()
)
_add_left_out = command(insert_into(import_left_out))
_left_out = query(
    select(import_left_out.c.step, import_left_out.c.name, import_left_out.c.reason)
    .where(import_left_out.c.import_id == bindparam("run"))
    .order_by(import_left_out.c.id),
    LeftOutRow,
)
_add_record = command(insert_into(import_records))
_records = query(
    select(import_records.c.model, import_records.c.old, import_records.c.new).where(
        import_records.c.origin == bindparam("origin")
    ),
    tuple,
)
_forget_left_out = command(delete(import_left_out).where(import_left_out.c.import_id == bindparam("run")))


async def begin(db: Session, run: ImportRun) -> None:
    await db.run(_begin, **msgspec.structs.asdict(run))


async def find_unfinished(db: Session, kind: str, source: str) -> ImportRun | None:
    """The run that was interrupted, to go on with."""
    return await db.one(_unfinished, kind=kind, source=source)


async def finish(db: Session, run_id: int, now: datetime) -> None:
    """What was left out stands in the report by now."""
    await db.run(_finish, run=run_id, now=now)
    await db.run(_forget_left_out, run=run_id)


async def marks(db: Session, run_id: int) -> dict[str, tuple[int, int]]:
    """By step: the place up to which everything is done, and how many rows were taken."""
    return {step: (place, taken) for step, place, taken in await db.all(_marks, run=run_id)}


async def set_mark(db: Session, run_id: int, step: str, place: int, taken: int) -> None:
    await db.run(_set_mark, import_id=run_id, step=step, place=place, taken=taken)


async def add_left_out(db: Session, run_id: int, rows: Sequence[tuple[int, LeftOutRow]]) -> None:
    """Each with an id of its own."""
    if rows:
        made = [
            {"id": id, "import_id": run_id, "step": one.step, "name": one.name, "reason": one.reason}
            for id, one in rows
        ]
        await db.many(_add_left_out, made)


async def left_out(db: Session, run_id: int) -> list[LeftOutRow]:
    return await db.all(_left_out, run=run_id)


async def add_record(db: Session, origin: str, model: str, old: str, new: str) -> None:
    await db.run(_add_record, origin=origin, model=model, old=old, new=new)


async def records(db: Session, origin: str) -> dict[tuple[str, str], str]:
    """What came from there before: by model and key there, the key here."""
    return {(model, old): new for model, old, new in await db.all(_records, origin=origin)}
