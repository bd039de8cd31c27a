from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from kith.base.db import Session, command, query, upsert
from kith.web.levels.tables import levels

__all__ = ["find_since", "forget", "note"]

_new = upsert(levels).values(day=bindparam("on"), name=bindparam("of"), most=bindparam("value"))
_note = command(
    _new.on_conflict_do_update(
        index_elements=[levels.c.day, levels.c.name],
        set_={"most": _new.excluded.most},
        where=levels.c.most < _new.excluded.most,
    ).inline()
)
_since = query(select(levels.c.name, levels.c.day, levels.c.most).where(levels.c.day >= bindparam("first")), tuple)
_forget = command(delete(levels).where(levels.c.day < bindparam("before")))


async def note(db: Session, day: str, name: str, value: int) -> None:
    """It counts if it is the most of that day."""
    await db.run(_note, on=day, of=name, value=value)


async def find_since(db: Session, first: str) -> dict[str, dict[str, int]]:
    """By name, the most of each day from this one on."""
    found: dict[str, dict[str, int]] = {}
    for name, day, most in await db.all(_since, first=first):
        found.setdefault(name, {})[day] = most
    return found


async def forget(db: Session, before: str) -> None:
    await db.run(_forget, before=before)
