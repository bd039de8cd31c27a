"""What the team has said of links, sites, posts and authors; of tags, it is kept with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Update, and_, bindparam, or_, select, update

from kith.base.db import Instant, Session, add_once, any_of, command, query
from kith.base.paging import Cursor
from kith.social.id_lists import IdList
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import statuses
from kith.social.trends.store import put
from kith.social.trends.tables import (
    LinkPublisher,
    TrendAuthor,
    link_publishers,
    link_trends,
    status_trends,
    trend_authors,
)

_now = bindparam("now", type_=Instant())

# Sites

_named = query(select(link_publishers).where(any_of(link_publishers.c.domain, "domains")), LinkPublisher)
_publisher = query(select(link_publishers).where(link_publishers.c.id == bindparam("publisher")), LinkPublisher)
_publishers = IdList(select(link_publishers), link_publishers.c.id, row=LinkPublisher)
_add_publisher = command(add_once(link_publishers))


def _change_publisher(**values: Any) -> Update:
    return update(link_publishers).where(link_publishers.c.id == bindparam("publisher")).values(values)


_review_publisher = command(_change_publisher(trendable=bindparam("trendable"), reviewed_at=_now))
_ask_publishers = command(
    update(link_publishers).where(any_of(link_publishers.c.id, "ids")).values(requested_review_at=_now)
)


async def publishers_named(db: Session, domains: Sequence[str]) -> dict[str, LinkPublisher]:
    return {one.domain: one for one in await db.all(_named, domains=list(domains))} if domains else {}


async def add_publisher(db: Session, id: int, domain: str, now: datetime) -> None:
    await db.run(
        _add_publisher, id=id, domain=domain, trendable=None, reviewed_at=None, requested_review_at=None, created_at=now
    )


async def find_publisher(db: Session, id: int) -> LinkPublisher | None:
    return await db.one(_publisher, publisher=id)


async def page_of_publishers(db: Session, cursor: Cursor) -> list[LinkPublisher]:
    statement, params = _publishers.form(cursor)
    return cursor.newest_first(await db.all(statement, **params))


async def review_publisher(db: Session, id: int, now: datetime, *, trendable: bool) -> None:
    await db.run(_review_publisher, publisher=id, trendable=trendable, now=now)


async def ask_about_publishers(db: Session, ids: Sequence[int], now: datetime) -> None:
    if ids:
        await db.run(_ask_publishers, ids=list(ids), now=now)


# Authors

_author = query(select(trend_authors).where(trend_authors.c.account_id == bindparam("account")), TrendAuthor)
_authors = IdList(select(trend_authors), trend_authors.c.account_id, row=TrendAuthor)
_review_author = put(trend_authors, "account_id", "trendable", "reviewed_at")
_ask_author = put(trend_authors, "account_id", "requested_review_at")


async def find_author(db: Session, account_id: AccountId) -> TrendAuthor | None:
    return await db.one(_author, account=account_id)


async def page_of_authors(db: Session, cursor: Cursor) -> list[TrendAuthor]:
    statement, params = _authors.form(cursor)
    return cursor.newest_first(await db.all(statement, **params))


async def review_author(db: Session, account_id: AccountId, now: datetime, *, trendable: bool) -> None:
    await db.run(_review_author, account_id=account_id, trendable=trendable, reviewed_at=now)


async def ask_about_authors(db: Session, ids: Sequence[AccountId], now: datetime) -> None:
    if ids:
        await db.many(_ask_author, [{"account_id": id, "requested_review_at": now} for id in sorted(set(ids))])


# Links and posts

_review_link = put(link_trends, "card_id", "trendable", new={"score": 0.0, "max_score": 0.0})
_review_status = put(status_trends, "status_id", "trendable", new={"score": 0.0})
_settled_links = query(
    select(link_trends.c.card_id)
    .select_from(link_trends.outerjoin(link_publishers, link_publishers.c.id == link_trends.c.publisher_id))
    .where(
        and_(
            any_of(link_trends.c.card_id, "ids"),
            or_(link_trends.c.trendable.is_not(None), link_publishers.c.reviewed_at.is_not(None)),
        )
    ),
    int,
)
_settled_statuses = query(
    select(statuses.c.id)
    .select_from(
        statuses.outerjoin(status_trends, status_trends.c.status_id == statuses.c.id).outerjoin(
            trend_authors, trend_authors.c.account_id == statuses.c.account_id
        )
    )
    .where(
        and_(
            any_of(statuses.c.id, "ids"),
            or_(status_trends.c.trendable.is_not(None), trend_authors.c.reviewed_at.is_not(None)),
        )
    ),
    int,
)


async def review_link(db: Session, card_id: int, *, trendable: bool) -> None:
    await db.run(_review_link, card_id=card_id, trendable=trendable)


async def review_status(db: Session, status_id: StatusId, *, trendable: bool) -> None:
    await db.run(_review_status, status_id=status_id, trendable=trendable)


async def links_waiting(db: Session, ids: Sequence[int]) -> set[int]:
    """Those of which the team has said nothing yet, nor of their site."""
    settled: list[int] = await db.all(_settled_links, ids=list(ids)) if ids else []
    return set(ids).difference(settled)


async def statuses_waiting(db: Session, ids: Sequence[int]) -> set[int]:
    settled: list[int] = await db.all(_settled_statuses, ids=list(ids)) if ids else []
    return set(ids).difference(settled)
