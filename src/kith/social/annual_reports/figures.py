"""What a year is summed up from: the figures of one account.

They are counted in a fixed number of queries, beside the loop: there may be many posts.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, case, func, literal_column, select

from kith.base.db import Query, Session, query
from kith.base.ids import id_at
from kith.social.days import month_of
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import growth
from kith.social.statuses.access import shown_to
from kith.social.statuses.tables import PUBLIC, UNLISTED, statuses
from kith.social.tags.tables import status_tags, tags

__all__ = ["Counts", "TopTag", "Year", "archetype_of", "collect", "has_posted"]

AVERAGE = 113  # posts, replies and boosts of an active person in a year
MOST_TAGS = 40
LEAST_USES = 2
TOPS = ("by_reblogs", "by_favourites", "by_replies")

_account: BindParameter[Any] = bindparam("account")
_within = and_(
    statuses.c.account_id == _account,
    statuses.c.id >= bindparam("first"),
    statuses.c.id < bindparam("end"),
    statuses.c.deleted_at.is_(None),
)
_is_boost = statuses.c.reblog_of_id.is_not(None)
_is_reply = statuses.c.in_reply_to_id.is_not(None)


def _number(clause: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((clause, literal_column("1")), else_=literal_column("0"))), literal_column("0"))


class Counts(NamedTuple):
    """Posts of its own accord, answers to others, boosts and polls; the first include the polls among them."""

    standalone: int
    replies: int
    boosts: int
    polls: int


class TopTag(NamedTuple):
    name: str
    uses: int


class Year(NamedTuple):
    """The ids of a year, from its first to the first of the next."""

    number: int

    @property
    def begins(self) -> datetime:
        return datetime(self.number, 1, 1, tzinfo=UTC)

    @property
    def ends(self) -> datetime:
        return datetime(self.number + 1, 1, 1, tzinfo=UTC)

    @property
    def bounds(self) -> dict[str, int]:
        return {"first": id_at(self.begins), "end": id_at(self.ends)}


_counts = query(
    select(
        _number(and_(~_is_boost, ~_is_reply)).label("standalone"),
        _number(and_(_is_reply, statuses.c.in_reply_to_account_id != _account)).label("replies"),
        _number(_is_boost).label("boosts"),
        _number(statuses.c.poll_id.is_not(None)).label("polls"),
    ).where(_within),
    Counts,
)
_month = month_of(statuses.c.created_at)
_months = query(select(_month, func.count()).where(_within).group_by(_month), tuple)
_tags = query(
    select(tags.c.display.label("name"), func.count().label("uses"))
    .select_from(
        status_tags.join(statuses, statuses.c.id == status_tags.c.status_id).join(
            tags, tags.c.id == status_tags.c.tag_id
        )
    )
    .where(and_(_within, status_tags.c.account_id == _account, shown_to(statuses, PUBLIC, UNLISTED)))
    .group_by(tags.c.id, tags.c.display)
    .having(func.count() >= LEAST_USES)
    .order_by(func.count().desc(), tags.c.display)
    .limit(MOST_TAGS),
    TopTag,
)
_public = and_(_within, shown_to(statuses, PUBLIC), ~_is_boost)
_any_public = query(select(statuses.c.id).where(_public).limit(1), StatusId)


def _top(column: ColumnElement[int], others: int) -> Query[StatusId]:
    """The post with most of something, if any has some; each is the top of one thing only."""
    before = [statuses.c.id != bindparam(f"other{number}") for number in range(others)]
    ranked = select(statuses.c.id).where(and_(_public, column > 0, *before))
    return query(ranked.order_by(column.desc(), statuses.c.id.desc()).limit(1), StatusId)


_ranked = [
    _top(column, number)
    for number, column in enumerate((statuses.c.reblogs_count, statuses.c.favourites_count, statuses.c.replies_count))
]


async def has_posted(db: Session, account_id: AccountId, year: Year) -> bool:
    """Whether there is anything that everybody may see."""
    return await db.one(_any_public, account=account_id, **year.bounds) is not None


async def collect(db: Session, account_id: AccountId, year: Year) -> dict[str, Any]:
    """As it is shown. Tags are counted where everybody can see them, since a report can be shared."""
    [counts] = await db.slow(_counts, account=account_id, **year.bounds)
    posted: dict[int, int] = dict(await db.slow(_months, account=account_id, **year.bounds))
    gained = await growth.followers_by_month(db, account_id, year.begins, year.ends)
    used = await db.slow(_tags, account=account_id, **year.bounds)
    return {
        "archetype": archetype_of(counts),
        "top_statuses": await _tops(db, account_id, year),
        "time_series": [
            {"month": month, "statuses": posted.get(month, 0), "followers": gained.get(month, 0)}
            for month in range(1, 13)
        ],
        "top_hashtags": [{"name": tag.name, "count": tag.uses} for tag in used],
    }


async def _tops(db: Session, account_id: AccountId, year: Year) -> dict[str, str | None]:
    found: list[StatusId | None] = []
    for statement in _ranked:
        others = {f"other{number}": id or 0 for number, id in enumerate(found)}
        ranked = await db.slow(statement, account=account_id, **year.bounds, **others)
        found.append(ranked[0] if ranked else None)
    return {name: None if id is None else str(id) for name, id in zip(TOPS, found, strict=True)}


def archetype_of(counts: Counts) -> str:
    """What kind of member somebody was."""
    if counts.standalone + counts.replies + counts.boosts < AVERAGE:
        return "lurker"
    if counts.boosts > counts.standalone * 2:
        return "booster"
    if counts.polls > counts.standalone * 0.1:
        return "pollster"
    return "replier" if counts.replies > counts.standalone * 2 else "oracle"
