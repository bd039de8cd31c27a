"""What is a trend for whoever reads: from the kept scores, and from what is true of each at this moment.

Whether something is there, allowed, and shown to the viewer is asked when it is read, so that what is deleted, limited
or rejected is gone at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, func, literal_column, select

from kith.base.db import Query, alias_of, any_of, any_row, query
from kith.base.work import Work
from kith.social.accounts.tables import preferences
from kith.social.ids import AccountId
from kith.social.relationships import rules
from kith.social.statuses.lines import A, S, StatusRow, lines
from kith.social.tags.tables import Tag, tags
from kith.social.trends.figures import has_score, may_trend
from kith.social.trends.scores import LEAST_STATUS_SCORE, LEAST_USAGE_SCORE
from kith.social.trends.tables import (
    link_publishers,
    link_trends,
    status_trends,
    tag_trends,
    trend_authors,
    trend_settings,
)

Clause = ColumnElement[bool]


def _is_on() -> Clause:
    own = alias_of(trend_settings)
    return ~any_row(own, ~own.c.enabled)


def _allowed(*said: ColumnElement[Any]) -> Clause:
    """What was said first counts; where nothing was, what the team has set for everything."""
    own = alias_of(trend_settings)
    return func.coalesce(*said, any_row(own, own.c.trendable_by_default))


def _is_scored(score: ColumnElement[Any], least: float) -> Clause:
    return score >= literal_column(str(least))


def _stretch(found: Select[Any]) -> Select[Any]:
    return found.limit(bindparam("limit")).offset(bindparam("offset"))


def _preferred(language: ColumnElement[Any]) -> ColumnElement[Any]:
    """In one of the viewer's languages first."""
    return case((any_of(language, "languages"), literal_column("0")), else_=literal_column("1"))


# Tags


@lru_cache(2)
def _tags(*, all_of_them: bool) -> Query[Tag]:
    clauses = [_is_scored(tag_trends.c.score, LEAST_USAGE_SCORE), tags.c.usable]
    if not all_of_them:
        clauses += [tags.c.listable, _allowed(tags.c.trendable), _is_on()]
    found = (
        select(tags)
        .select_from(tag_trends.join(tags, tags.c.id == tag_trends.c.tag_id))
        .where(and_(*clauses))
        .order_by(tag_trends.c.score.desc(), tag_trends.c.tag_id)
    )
    return query(_stretch(found), Tag)


async def read_tags(work: Work, *, limit: int, offset: int, all_of_them: bool = False) -> list[Tag]:
    """`all_of_them`: also what was not reviewed or was rejected, for the team."""
    return await work.db.all(_tags(all_of_them=all_of_them), limit=limit, offset=offset)


# Links


def _links() -> Select[Any]:
    source = link_trends.outerjoin(link_publishers, link_publishers.c.id == link_trends.c.publisher_id)
    scored = _is_scored(link_trends.c.score, LEAST_USAGE_SCORE)
    return select(link_trends.c.card_id).select_from(source).where(scored)


def _is_allowed_link() -> Clause:
    return and_(_allowed(link_trends.c.trendable, link_publishers.c.trendable), _is_on())


@lru_cache(2)
def _links_page(*, all_of_them: bool) -> Query[int]:
    found = _links() if all_of_them else _links().where(_is_allowed_link())
    order = (_preferred(link_trends.c.language), link_trends.c.score.desc(), link_trends.c.card_id)
    return query(_stretch(found.order_by(*order)), int)


_one_link = query(lambda: _links().where(and_(link_trends.c.card_id == bindparam("card"), _is_allowed_link())), int)


async def read_links(
    work: Work, languages: Sequence[str], *, limit: int, offset: int, all_of_them: bool = False
) -> list[int]:
    """The ids of cards."""
    statement = _links_page(all_of_them=all_of_them)
    return await work.db.all(statement, languages=list(languages), limit=limit, offset=offset)


async def is_trending_link(work: Work, card_id: int) -> bool:
    return await work.db.one(_one_link, card=card_id) is not None


# Statuses


@lru_cache(4)
def _statuses(*, anonymous: bool, all_of_them: bool) -> Query[StatusRow]:
    source = status_trends.join(S, S.c.id == status_trends.c.status_id).outerjoin(
        trend_authors, trend_authors.c.account_id == S.c.account_id
    )
    clauses = [has_score(S.c.id), _is_scored(status_trends.c.score, LEAST_STATUS_SCORE), may_trend(S, A)]
    if not all_of_them:
        clauses += [
            _allowed(status_trends.c.trendable, trend_authors.c.trendable),
            _is_on(),
            rules.shows_author(None if anonymous else rules.ME, A),
        ]
    order = (_preferred(S.c.language), status_trends.c.score.desc(), S.c.id)
    found = lines(source, anonymous=anonymous).where(and_(*clauses)).order_by(*order)
    return query(_stretch(found), StatusRow, wire=True)


async def read_statuses(
    work: Work, me: AccountId | None, languages: Sequence[str], *, limit: int, offset: int, all_of_them: bool = False
) -> list[StatusRow]:
    statement = _statuses(anonymous=me is None, all_of_them=all_of_them)
    return await work.db.all(
        statement, me=me, now=work.now, languages=list(languages), limit=limit, offset=offset
    )  # fmt: skip


# Languages

MOST_LANGUAGES = 20
_chosen = query(select(preferences.c.chosen_languages).where(preferences.c.account_id == rules.ME), list)


async def languages_of(work: Work, me: AccountId | None, accepted: str) -> list[str]:
    """Those that somebody has chosen to read, else those that their client says they read."""
    chosen = [] if me is None else await work.db.all(_chosen, me=me)
    if chosen and chosen[0]:
        return list(chosen[0])
    named = (part.partition(";")[0].strip() for part in accepted.split(",")[:MOST_LANGUAGES])
    return list(dict.fromkeys(code for name in named if name for code in (name, name.lower().partition("-")[0])))
