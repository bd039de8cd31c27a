from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Select, and_, bindparam, func, select

from kith.base.db import Query, Session, alias_of, query
from kith.social.ids import AccountId
from kith.social.statuses.tables import PUBLIC, UNLISTED, statuses
from kith.social.tags.tables import FeaturedTag, featured_tags, status_tags

_account: BindParameter[Any] = bindparam("account")
_one = query(
    select(featured_tags).where(and_(featured_tags.c.account_id == _account, featured_tags.c.id == bindparam("id"))),
    FeaturedTag,
)
_of_tag = query(
    select(featured_tags).where(
        and_(featured_tags.c.account_id == _account, featured_tags.c.tag_id == bindparam("tag"))
    ),
    FeaturedTag,
)
_used = (
    select(statuses.c.created_at)
    .select_from(status_tags.join(statuses, statuses.c.id == status_tags.c.status_id))
    .where(
        and_(
            status_tags.c.account_id == _account,
            status_tags.c.tag_id == bindparam("tag"),
            statuses.c.deleted_at.is_(None),
            statuses.c.visibility.in_((PUBLIC, UNLISTED)),
        )
    )
)
_newest = _used.order_by(status_tags.c.status_id.desc()).limit(bindparam("most"))


def _counted(used: Select[Any]) -> Query[tuple[int, datetime | None]]:
    found = used.subquery()
    return query(select(func.count(), func.max(found.c.created_at, type_=found.c.created_at.type)), tuple)


_all_uses, _some_uses = _counted(_used), _counted(_newest)
_recent = (
    select(statuses.c.id)
    .where(
        and_(
            statuses.c.account_id == _account,
            statuses.c.deleted_at.is_(None),
            statuses.c.reblog_of_id.is_(None),
            statuses.c.id > bindparam("since"),
        )
    )
    .order_by(statuses.c.id.desc())
    .limit(bindparam("most"))
    .subquery()
)
_shown = alias_of(featured_tags, "shown")
_liked = query(
    select(status_tags.c.tag_id)
    .join(_recent, _recent.c.id == status_tags.c.status_id)
    .where(status_tags.c.tag_id.not_in(select(_shown.c.tag_id).where(_shown.c.account_id == _account)))
    .group_by(status_tags.c.tag_id)
    .having(func.count() >= bindparam("least"))
    .order_by(func.count().desc(), status_tags.c.tag_id)
    .limit(bindparam("shown")),
    int,
)


async def find(db: Session, me: AccountId, id: int) -> FeaturedTag | None:
    return await db.one(_one, account=me, id=id)


async def of_tag(db: Session, me: AccountId, tag_id: int) -> FeaturedTag | None:
    return await db.one(_of_tag, account=me, tag=tag_id)


async def uses(db: Session, me: AccountId, tag_id: int, *, most: int | None = None) -> tuple[int, datetime | None]:
    """How often somebody used a tag where everybody can see it, no more than `most` counted, and when last."""
    if most is None:
        found = await db.one(_all_uses, account=me, tag=tag_id)
    else:
        found = await db.one(_some_uses, account=me, tag=tag_id, most=most)
    return (0, None) if found is None else (found[0], found[1])


async def liked(db: Session, me: AccountId, *, since: int, posts: int, least: int, most: int) -> Sequence[int]:
    """The tags that somebody used most in their newest posts, without those they feature."""
    return await db.all(_liked, account=me, since=since, most=posts, least=least, shown=most)
