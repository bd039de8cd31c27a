"""How far somebody has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, select

from kith.base.db import Instant, any_of, query, upsert
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.timelines.tables import Marker, markers

NAMES = ("home", "notifications")

_of = query(
    select(markers).where(and_(markers.c.account_id == bindparam("me"), any_of(markers.c.timeline, "names"))), Marker
)
_new = upsert(markers).values(
    account_id=bindparam("me"), timeline=bindparam("name"), last_read_id=bindparam("read"), version=0,
    updated_at=bindparam("now", type_=Instant()),
)  # fmt: skip
_move = query(
    _new.on_conflict_do_update(
        index_elements=[markers.c.account_id, markers.c.timeline],
        set_={
            "last_read_id": _new.excluded.last_read_id,
            "version": markers.c.version + 1,
            "updated_at": _new.excluded.updated_at,
        },
    ).returning(markers),
    Marker,
)


async def of(work: Work, me: AccountId, names: Sequence[str]) -> dict[str, Any]:
    wanted = [name for name in names if name in NAMES]
    found = await work.db.all(_of, me=me, names=wanted) if wanted else []
    return {marker.timeline: shape(marker) for marker in found}


async def last_read(work: Work, me: AccountId, name: str) -> int:
    """Nought where somebody has read nothing yet."""
    found = await work.db.all(_of, me=me, names=[name])
    return found[0].last_read_id if found else 0


async def move(work: Work, me: AccountId, read: Mapping[str, int]) -> dict[str, Any]:
    moved: dict[str, Any] = {}
    for name in sorted(read):
        marker = await work.db.one(_move, me=me, name=name, read=read[name], now=work.now)
        if marker is not None:
            moved[name] = shape(marker)
    return moved


def shape(marker: Marker) -> dict[str, Any]:
    return {
        "last_read_id": str(marker.last_read_id),
        "version": marker.version,
        "updated_at": moment(marker.updated_at),
    }
