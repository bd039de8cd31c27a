from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, delete, select, update

from kith.base.db import Instant, Session, any_of, command, insert_into, query
from kith.social.archives.tables import Archive, archives
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import favourites, statuses

_me: BindParameter[Any] = bindparam("me")
_insert = command(insert_into(archives))
_one = query(select(archives).where(archives.c.id == bindparam("id")), Archive)
_newest = query(select(archives).where(archives.c.account_id == _me).order_by(archives.c.id.desc()).limit(1), Archive)
_finish = command(
    update(archives)
    .where(archives.c.id == bindparam("archive"))
    .values(
        state="ready",
        file=bindparam("file"),
        bytes=bindparam("size"),
        expires_at=bindparam("expires", type_=Instant()),
    )
)
_over = query(
    select(archives).where(archives.c.expires_at <= bindparam("now", type_=Instant())).limit(bindparam("most")), Archive
)
_remove = command(delete(archives).where(any_of(archives.c.id, "ids")))
_end = command(
    update(archives).where(archives.c.account_id == _me).values(expires_at=bindparam("now", type_=Instant()))
)
_posts = query(
    select(statuses.c.id)
    .where(and_(statuses.c.account_id == _me, statuses.c.id > bindparam("after"), statuses.c.deleted_at.is_(None)))
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    StatusId,
)
_favourites = query(
    select(statuses.c.uri)
    .select_from(favourites.join(statuses, statuses.c.id == favourites.c.status_id))
    .where(and_(favourites.c.account_id == _me, statuses.c.deleted_at.is_(None)))
    .order_by(favourites.c.id)
    .limit(bindparam("most")),
    str,
)


async def insert(db: Session, new: Archive) -> None:
    await db.run(_insert, **{name: getattr(new, name) for name in Archive.__struct_fields__})


async def find(db: Session, id: int) -> Archive | None:
    return await db.one(_one, id=id)


async def newest(db: Session, me: AccountId) -> Archive | None:
    return await db.one(_newest, me=me)


async def finish(db: Session, id: int, *, file: str, size: int, expires_at: datetime) -> None:
    await db.run(_finish, archive=id, file=file, size=size, expires=expires_at)


async def over(db: Session, now: datetime, most: int) -> list[Archive]:
    return await db.all(_over, now=now, most=most)


async def remove(db: Session, ids: Sequence[int]) -> None:
    await db.run(_remove, ids=list(ids))


async def end_all(db: Session, me: AccountId, now: datetime) -> None:
    await db.run(_end, me=me, now=now)


async def post_ids(db: Session, me: AccountId, after: int, most: int) -> list[StatusId]:
    return await db.all(_posts, me=me, after=after, most=most)


async def favourite_uris(db: Session, me: AccountId, most: int) -> list[str]:
    return await db.all(_favourites, me=me, most=most)
