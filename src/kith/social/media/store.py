from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, null, or_, select, update
from sqlalchemy import delete as delete_from

from kith.base.db import Document, Instant, Session, any_of, command, insert_into, query
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media, media

WAITING, READY, FAILED = "waiting", "ready", "failed"

_insert = command(insert_into(media))
_one = select(media).where(media.c.id == bindparam("media_id"))
_find = query(_one, Media)
_hold = query(_one.with_for_update(), Media)
_of_ids = query(select(media).where(any_of(media.c.id, "ids")), Media)
_known_ids = query(select(media.c.id).where(any_of(media.c.id, "ids")), int)
_waiting_ids = query(select(media.c.id).where(and_(any_of(media.c.id, "ids"), media.c.state == WAITING)), int)
_ids_of_account = query(
    select(media.c.id).where(media.c.account_id == bindparam("account")).order_by(media.c.id).limit(bindparam("most")),
    int,
)
_ids_of_status = query(
    select(media.c.id).where(media.c.status_id == bindparam("status")).order_by(media.c.id).limit(bindparam("most")),
    int,
)

_loose = and_(media.c.status_id.is_(None), media.c.scheduled_id.is_(None))
_describe = command(
    update(media)
    .where(media.c.id == bindparam("media_id"))
    .values(
        description=bindparam("description"),
        meta=bindparam("meta", type_=Document()),
        preview=bindparam("preview"),
        blurhash=bindparam("blurhash"),
    )
)
_finish = command(
    update(media)
    .where(media.c.id == bindparam("media_id"))
    .values(
        state=READY,
        source="",
        kind=bindparam("kind"),
        file=bindparam("file"),
        preview=bindparam("preview"),
        mime=bindparam("mime"),
        meta=bindparam("meta", type_=Document()),
        blurhash=bindparam("blurhash"),
    )
)
_fail = command(
    update(media)
    .where(and_(media.c.id == bindparam("media_id"), media.c.state == WAITING))
    .values(state=FAILED, source="", error=bindparam("why"))
)
_own = and_(any_of(media.c.id, "ids"), media.c.state == READY)
_attach = command(
    update(media)
    .where(and_(_own, or_(media.c.status_id.is_(None), media.c.status_id == bindparam("status"))))
    .values(status_id=bindparam("status"), scheduled_id=null())
)
_reserve = command(
    update(media)
    .where(
        and_(
            _own,
            media.c.status_id.is_(None),
            or_(media.c.scheduled_id.is_(None), media.c.scheduled_id == bindparam("scheduled")),
        )
    )
    .values(scheduled_id=bindparam("scheduled"))
)
_detach = command(
    update(media)
    .where(any_of(media.c.id, "ids"))
    .values(status_id=null(), scheduled_id=null(), created_at=bindparam("now", type_=Instant()))
)
_delete_loose = query(
    delete_from(media).where(and_(any_of(media.c.id, "ids"), _loose)).returning(media.c.id),
    int,
)
_orphans = query(
    select(media.c.id)
    .where(and_(media.c.created_at < bindparam("before", type_=Instant()), _loose, media.c.remote_url.is_(None)))
    .order_by(media.c.created_at)
    .limit(bindparam("most")),
    int,
)


async def insert(db: Session, row: Media) -> None:
    await db.run(_insert, **{name: getattr(row, name) for name in Media.__struct_fields__})


async def find(db: Session, id: int) -> Media | None:
    return await db.one(_find, media_id=id)


async def hold(db: Session, id: int) -> Media | None:
    """The same, and nobody else changes it before this transaction ends."""
    return await db.one(_hold, media_id=id)


async def of_ids(db: Session, ids: Sequence[int]) -> dict[int, Media]:
    rows = await db.all(_of_ids, ids=list(ids)) if ids else []
    return {row.id: row for row in rows}


async def known(db: Session, ids: Sequence[int]) -> set[int]:
    return set(await db.all(_known_ids, ids=list(ids)))


async def waiting(db: Session, ids: Sequence[int]) -> set[int]:
    return set(await db.all(_waiting_ids, ids=list(ids)))


async def ids_of_account(db: Session, account_id: AccountId, *, most: int) -> list[int]:
    return await db.all(_ids_of_account, account=account_id, most=most)


async def ids_of_status(db: Session, status_id: StatusId, *, most: int) -> list[int]:
    """What it has or had: what an edit took out of a post stays with it, for its history."""
    return await db.all(_ids_of_status, status=status_id, most=most)


async def describe(db: Session, row: Media) -> None:
    await db.run(
        _describe,
        media_id=row.id,
        description=row.description,
        meta=row.meta,
        preview=row.preview,
        blurhash=row.blurhash,
    )


async def finish(db: Session, id: int, **made: Any) -> None:
    await db.run(_finish, media_id=id, **made)


async def fail(db: Session, id: int, why: str) -> int:
    return await db.run(_fail, media_id=id, why=why)


async def attach(db: Session, ids: Sequence[int], status_id: StatusId) -> int:
    """Give them to a status; how many could be given."""
    return await db.run(_attach, ids=list(ids), status=status_id)


async def reserve(db: Session, ids: Sequence[int], scheduled_id: int) -> int:
    """Keep them for a status that is yet to be posted; how many could be kept."""
    return await db.run(_reserve, ids=list(ids), scheduled=scheduled_id)


async def detach(db: Session, ids: Sequence[int], now: datetime) -> None:
    """Take them from what they belong to; from `now` on they have a day to find another place."""
    if ids:
        await db.run(_detach, ids=list(ids), now=now)


async def delete_loose(db: Session, ids: Sequence[int]) -> list[int]:
    """Delete those that belong to nothing; which they were."""
    return await db.all(_delete_loose, ids=list(ids)) if ids else []


async def orphans(db: Session, before: datetime, most: int) -> list[int]:
    return await db.all(_orphans, before=before, most=most)
