from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Boolean, and_, bindparam, delete, func, select, update

from kith.base.db import Instant, Session, add_once, any_of, command, insert_into, query
from kith.base.paging import Cursor
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.tags.tables import (
    FeaturedTag,
    Tag,
    featured_tags,
    status_tags,
    tag_days,
    tag_follows,
    tags,
)

_now = bindparam("now", type_=Instant())
_me: BindParameter[Any] = bindparam("me")
_add = command(add_once(tags))
_by_names = query(select(tags).where(any_of(tags.c.name, "names")), Tag)
_by_ids = query(select(tags).where(any_of(tags.c.id, "ids")), Tag)
_touch = command(update(tags).where(any_of(tags.c.id, "ids")).values(last_status_at=_now))
_open = command(
    update(tags).where(and_(any_of(tags.c.id, "ids"), tags.c.last_status_at.is_(None))).values(last_status_at=_now)
)
_link = command(add_once(status_tags))
_unlink = command(
    delete(status_tags).where(and_(status_tags.c.status_id == bindparam("status"), any_of(status_tags.c.tag_id, "ids")))
)
_of_status = query(select(status_tags.c.tag_id).where(status_tags.c.status_id == bindparam("status")), int)
_days = query(
    select(tag_days.c.tag_id, tag_days.c.day, func.count().label("accounts"), func.sum(tag_days.c.uses).label("uses"))
    .where(and_(any_of(tag_days.c.tag_id, "ids"), tag_days.c.day >= bindparam("since")))
    .group_by(tag_days.c.tag_id, tag_days.c.day),
    tuple,
)
_forget_days = command(delete(tag_days).where(tag_days.c.day < bindparam("before")))
_followed = query(
    select(tag_follows.c.tag_id).where(and_(tag_follows.c.account_id == _me, any_of(tag_follows.c.tag_id, "ids"))), int
)
_featured = query(
    select(featured_tags.c.tag_id).where(
        and_(featured_tags.c.account_id == _me, any_of(featured_tags.c.tag_id, "ids"))
    ),
    int,
)
_follow = command(add_once(tag_follows))
_followed_some = (
    select(tag_follows.c.id).where(tag_follows.c.account_id == _me).limit(bindparam("most")).subquery("some")
)
_count_followed = query(select(func.count()).select_from(_followed_some), int)
_unfollow = command(
    delete(tag_follows).where(and_(tag_follows.c.account_id == _me, tag_follows.c.tag_id == bindparam("tag")))
)
_features_of = query(
    select(featured_tags)
    .where(featured_tags.c.account_id == bindparam("account"))
    .order_by(featured_tags.c.statuses_count.desc(), featured_tags.c.id),
    FeaturedTag,
)
_insert_featured = command(insert_into(featured_tags))
_remove_featured = command(
    delete(featured_tags).where(and_(featured_tags.c.account_id == _me, featured_tags.c.id == bindparam("id")))
)
_count_featured = command(
    update(featured_tags)
    .where(and_(featured_tags.c.account_id == bindparam("account"), any_of(featured_tags.c.tag_id, "ids")))
    .values(statuses_count=featured_tags.c.statuses_count + bindparam("change"))
)
_note_featured = command(
    update(featured_tags)
    .where(and_(featured_tags.c.account_id == bindparam("account"), any_of(featured_tags.c.tag_id, "ids")))
    .values(statuses_count=featured_tags.c.statuses_count + 1, last_status_at=_now)
)
_unlink_all = command(delete(status_tags).where(status_tags.c.status_id == bindparam("status")))
_page = IdList(select(tags), tags.c.id, row=Tag)
_review = command(
    update(tags)
    .where(tags.c.id == bindparam("tag"))
    .values(
        display=bindparam("display"),
        usable=bindparam("usable"),
        listable=bindparam("listable"),
        trendable=bindparam("trendable", type_=Boolean()),
        reviewed_at=_now,
    )
)
_ask = command(update(tags).where(any_of(tags.c.id, "ids")).values(requested_review_at=_now))
_page_of_followed = IdList(
    select(tag_follows.c.id, tag_follows.c.tag_id).where(tag_follows.c.account_id == _me), tag_follows.c.id
)


async def note(db: Session, spelled: Mapping[str, str], *, ids: Sequence[int], now: datetime) -> dict[str, Tag]:
    """The tags with these names, made where they are new; `spelled` is how each is written."""
    if not spelled:
        return {}
    found = {tag.name: tag for tag in await db.all(_by_names, names=list(spelled))}
    new = sorted(name for name in spelled if name not in found)  # or two would wait for each other
    if new:
        rows = [
            {
                "id": id,
                "name": name,
                "display": spelled[name],
                "usable": True,
                "listable": True,
                "trendable": None,
                "last_status_at": None,
                "created_at": now,
                "reviewed_at": None,
                "requested_review_at": None,
            }
            for id, name in zip(ids, new, strict=False)
        ]
        await db.many(_add, rows)
        found |= {tag.name: tag for tag in await db.all(_by_names, names=new)}
    return found


async def find_named(db: Session, names: Sequence[str]) -> dict[str, Tag]:
    return {tag.name: tag for tag in await db.all(_by_names, names=list(names))} if names else {}


async def find_all(db: Session, ids: Sequence[int]) -> dict[int, Tag]:
    return {tag.id: tag for tag in await db.all(_by_ids, ids=list(ids))} if ids else {}


async def link(db: Session, status_id: StatusId, account_id: AccountId, tag_ids: Sequence[int]) -> None:
    if tag_ids:
        rows = [{"tag_id": id, "status_id": status_id, "account_id": account_id} for id in tag_ids]
        await db.many(_link, rows)


async def unlink(db: Session, status_id: StatusId, tag_ids: Sequence[int]) -> None:
    if tag_ids:
        await db.run(_unlink, status=status_id, ids=list(tag_ids))


async def of_status(db: Session, status_id: StatusId) -> list[int]:
    return await db.all(_of_status, status=status_id)


async def touch(db: Session, tag_ids: Sequence[int], now: datetime) -> None:
    """Somebody used them."""
    if tag_ids:
        await db.run(_touch, ids=sorted(tag_ids), now=now)


async def days_of(db: Session, tag_ids: Sequence[int], since: str) -> list[tuple[int, str, int, int]]:
    """Tag, day, how many people, how many uses."""
    return await db.all(_days, ids=list(tag_ids), since=since) if tag_ids else []


async def forget_days(db: Session, before: str) -> None:
    await db.run(_forget_days, before=before)


async def followed_by(db: Session, me: AccountId, tag_ids: Sequence[int]) -> set[int]:
    return set(await db.all(_followed, me=me, ids=list(tag_ids))) if tag_ids else set()


async def featured_by(db: Session, me: AccountId, tag_ids: Sequence[int]) -> set[int]:
    return set(await db.all(_featured, me=me, ids=list(tag_ids))) if tag_ids else set()


async def follow(db: Session, me: AccountId, tag_id: int, *, id: int, now: datetime) -> bool:
    return await db.run(_follow, id=id, account_id=me, tag_id=tag_id, created_at=now) == 1


async def count_followed(db: Session, me: AccountId, most: int) -> int:
    """Up to `most`."""
    return await db.one(_count_followed, me=me, most=most) or 0


async def unfollow(db: Session, me: AccountId, tag_id: int) -> bool:
    return await db.run(_unfollow, me=me, tag=tag_id) == 1


async def features_of(db: Session, account_id: AccountId) -> list[FeaturedTag]:
    """Most used first."""
    return await db.all(_features_of, account=account_id)


async def feature(db: Session, featured: FeaturedTag) -> None:
    await db.run(_insert_featured, **{name: getattr(featured, name) for name in FeaturedTag.__struct_fields__})


async def unfeature(db: Session, me: AccountId, id: int) -> bool:
    return await db.run(_remove_featured, me=me, id=id) == 1


async def count_featured(db: Session, account_id: AccountId, tag_ids: Sequence[int], change: int) -> None:
    if tag_ids:
        await db.run(_count_featured, account=account_id, ids=list(tag_ids), change=change)


async def note_open_use(db: Session, account_id: AccountId, tag_ids: Sequence[int], now: datetime) -> None:
    """A post for everybody uses them: they can be found now, and have one post more on the author's profile."""
    if tag_ids:
        await db.run(_open, ids=sorted(tag_ids), now=now)
        await db.run(_note_featured, account=account_id, ids=list(tag_ids), now=now)


async def unlink_all(db: Session, status_id: StatusId) -> None:
    await db.run(_unlink_all, status=status_id)


async def page_of_followed(db: Session, me: AccountId, cursor: Cursor) -> list[tuple[int, int]]:
    """The follow, by which the list is walked, and the tag."""
    statement, params = _page_of_followed.form(cursor)
    return cursor.newest_first(await db.all(statement, me=me, **params))


async def page(db: Session, cursor: Cursor) -> list[Tag]:
    """All there are, the newest first."""
    statement, params = _page.form(cursor)
    return cursor.newest_first(await db.all(statement, **params))


async def review(db: Session, tag: Tag, now: datetime) -> None:
    """What the team says of it, which has looked at it now."""
    await db.run(
        _review,
        tag=tag.id,
        display=tag.display,
        usable=tag.usable,
        listable=tag.listable,
        trendable=tag.trendable,
        now=now,
    )


async def ask_for_review(db: Session, tag_ids: Sequence[int], now: datetime) -> None:
    if tag_ids:
        await db.run(_ask, ids=list(tag_ids), now=now)
