"""What scores are made of, counted from what people posted: who used a tag, who shared a link, what is much liked.

Whoever is limited, suspended or gone does not count, nor what is deleted or not for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    distinct,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from kith.base.db import Session, alias_of, any_of, query
from kith.base.ids import id_at
from kith.social.accounts.access import is_there
from kith.social.accounts.tables import accounts
from kith.social.ids import StatusId
from kith.social.statuses import access
from kith.social.statuses.lines import A, S
from kith.social.statuses.tables import PUBLIC, statuses
from kith.social.tags.tables import tag_days, tags
from kith.social.trends.scores import LEAST_PEOPLE, LEAST_STATUS_SCORE, day_of_use
from kith.social.trends.tables import link_trends, status_trends, tag_trends

Clause = ColumnElement[bool]
DAYS = 7
STATUSES_LOOKED_AT = 10_000  # the newest of those that are liked enough
STATUS_AGE = timedelta(days=3)  # after so long no post has any score left
_ONE_DAY = 86_400_000 << 16  # of ids
_EPOCH = date(1970, 1, 1)
_least: ColumnElement[Any] = literal_column(str(LEAST_PEOPLE))


class LinkDay(NamedTuple):
    card_id: int
    day: str
    accounts: int
    uses: int


class Liked(NamedTuple):
    id: StatusId
    marks: int
    created_at: datetime


def _counts(person: FromClause) -> Clause:
    return and_(is_there(person), person.c.silenced_at.is_(None))


def has_score(status_id: ColumnElement[Any]) -> Clause:
    """Said beside the scores themselves: so SQLite begins with the few that have one, not with all that is public."""
    scored = alias_of(status_trends)
    return status_id.in_(select(scored.c.status_id).where(scored.c.score >= literal_column(str(LEAST_STATUS_SCORE))))


def may_trend(status: FromClause, author: FromClause) -> Clause:
    """Own words for everybody, with nothing to warn of, by somebody who wants to be found."""
    return and_(
        access.shown_to(status, PUBLIC),
        access.is_no_boost(status.c.reblog_of_id),
        status.c.deleted_at.is_(None),
        status.c.in_reply_to_id.is_(None),
        status.c.spoiler_text == literal_column("''"),
        ~status.c.sensitive,
        status.c.language.is_not(None),
        author.c.discoverable.is_(True),
        ~author.c.noindex,
        author.c.sensitized_at.is_(None),
        _counts(author),
    )


# Tags


def _tag_people() -> Select[Any]:
    """Of tags that are trends already, or are used by enough people today."""
    today = alias_of(tag_days, "today")
    popular = (
        select(today.c.tag_id)
        .where(today.c.day == bindparam("today"))
        .group_by(today.c.tag_id)
        .having(func.count() >= _least)
    )
    source = tag_days.join(accounts, accounts.c.id == tag_days.c.account_id).join(tags, tags.c.id == tag_days.c.tag_id)
    looked_at = or_(tag_days.c.tag_id.in_(select(tag_trends.c.tag_id)), tag_days.c.tag_id.in_(popular))
    return (
        select(tag_days.c.tag_id, tag_days.c.day, func.count().label("people"))
        .select_from(source)
        .where(and_(tag_days.c.day >= bindparam("since"), tags.c.usable, _counts(accounts), looked_at))
        .group_by(tag_days.c.tag_id, tag_days.c.day)
    )


_tags = query(_tag_people, tuple)


async def people_by_tag(db: Session, now: datetime) -> dict[int, dict[str, int]]:
    """How many used a tag, by day: the days that scores are made of."""
    found: dict[int, dict[str, int]] = {}
    for tag_id, day, people in await db.slow(_tags, today=day_of_use(now), since=day_of_use(now, 3)):
        found.setdefault(tag_id, {})[day] = people
    return found


# Links

_author, _original, _writer = alias_of(accounts, "sharer"), alias_of(statuses, "original"), alias_of(accounts, "writer")


def _is_shared(status: FromClause, author: FromClause) -> Clause:
    return and_(
        access.shown_to(status, PUBLIC),
        status.c.deleted_at.is_(None),
        status.c.spoiler_text == literal_column("''"),
        ~status.c.sensitive,
        status.c.card_id.is_not(None),
        _counts(author),
    )


def _shares(*, own: Clause, boosted: Clause) -> Any:
    """Card, who shared it, and when: by posting it, or by boosting such a post."""
    posted = (
        select(
            statuses.c.card_id.label("card_id"), statuses.c.account_id.label("account_id"), statuses.c.id.label("id")
        )
        .select_from(statuses.join(_author, _author.c.id == statuses.c.account_id))
        .where(and_(own, access.is_no_boost(statuses.c.reblog_of_id), _is_shared(statuses, _author)))
    )
    source = (
        statuses.join(_author, _author.c.id == statuses.c.account_id)
        .join(_original, _original.c.id == statuses.c.reblog_of_id)
        .join(_writer, _writer.c.id == _original.c.account_id)
    )
    passed_on = (
        select(_original.c.card_id.label("card_id"), statuses.c.account_id, statuses.c.id)
        .select_from(source)
        .where(
            and_(
                boosted,
                access.shown_to(statuses, PUBLIC),
                statuses.c.deleted_at.is_(None),
                _counts(_author),
                _is_shared(_original, _writer),
            )
        )
    )  # fmt: skip
    return union_all(posted, passed_on).subquery("shares")


def _popular_cards() -> Select[Any]:
    since = statuses.c.id >= bindparam("since", type_=BigInteger())
    found = _shares(own=since, boosted=since)
    people = func.count(distinct(found.c.account_id))
    return select(found.c.card_id).group_by(found.c.card_id).having(people >= _least)


def _card_days() -> Select[Any]:
    since = statuses.c.id >= bindparam("since", type_=BigInteger())
    found = _shares(
        own=and_(any_of(statuses.c.card_id, "cards"), since), boosted=and_(any_of(_original.c.card_id, "cards"), since)
    )
    day = (found.c.id // literal_column(str(_ONE_DAY), BigInteger)).label("day")
    people = func.count(distinct(found.c.account_id))
    return select(found.c.card_id, day, people, func.count()).group_by(found.c.card_id, day)


_popular = query(_popular_cards, int)
_days = query(_card_days, tuple)
_trending = query(select(link_trends.c.card_id).where(link_trends.c.max_score > 0), int)


def _first_id(now: datetime, ago: int) -> int:
    """The first of that day."""
    return id_at(datetime.fromisoformat(day_of_use(now, ago)).replace(tzinfo=UTC))


async def shared_links(db: Session, now: datetime) -> list[int]:
    """The cards of links that are trends already, or are shared by enough people today."""
    popular = await db.slow(_popular, since=_first_id(now, 0))
    return sorted({*popular, *await db.slow(_trending)})


async def days_of_links(db: Session, card_ids: Sequence[int], now: datetime) -> list[LinkDay]:
    """The seven days that are shown, of which scores are made, too."""
    if not card_ids:
        return []
    rows = await db.slow(_days, cards=list(card_ids), since=_first_id(now, DAYS - 1))
    return [
        LinkDay(card_id, (_EPOCH + timedelta(days=number)).isoformat(), people, uses)
        for card_id, number, people, uses in rows
    ]


# Statuses

_marks = S.c.reblogs_count + S.c.favourites_count
_liked = query(
    lambda: (
        select(S.c.id, _marks.label("marks"), S.c.created_at)
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(S.c.id >= bindparam("since", type_=BigInteger()), _marks >= _least, may_trend(S, A)))
        .order_by(S.c.id.desc())
        .limit(STATUSES_LOOKED_AT)
    ),
    Liked,
)


async def liked_statuses(db: Session, now: datetime) -> list[Liked]:
    return await db.slow(_liked, since=id_at(now - STATUS_AGE))
