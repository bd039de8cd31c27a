"""Asking the team for a review: once for each tag, site and author, when it would stand among the first three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Boolean, ColumnElement, FromClause, Select, String, and_, func, literal_column, select

from kith.base.db import query
from kith.base.mail_texts import send
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.moderation import mails, team
from kith.social.statuses.lines import A, S
from kith.social.statuses.tables import cards
from kith.social.tags import store as tags
from kith.social.tags.tables import tags as tag_rows
from kith.social.trends import review_store, store
from kith.social.trends.figures import has_score, may_trend
from kith.social.trends.review import PERMISSION
from kith.social.trends.scores import LEAST_STATUS_SCORE, LEAST_USAGE_SCORE
from kith.social.trends.tables import link_publishers, link_trends, status_trends, tag_trends, trend_authors

__all__ = ["Candidate", "ask_for_review", "near_the_top"]

FIRST = 3


class Candidate(NamedTuple):
    """A trend with what was said of it. `subject_id` is what is asked about: the tag, the site, the author."""

    subject_id: int
    name: str
    language: str | None
    score: float
    trendable: bool | None
    reviewed: bool
    requested: bool


def _columns(
    subject: ColumnElement[Any], name: ColumnElement[Any], language: ColumnElement[Any], trend: FromClause,
    trendable: ColumnElement[Any], said: FromClause,
) -> list[ColumnElement[Any]]:  # fmt: skip
    return [
        subject.label("subject_id"),
        name.label("name"),
        language.label("language"),
        trend.c.score.label("score"),
        trendable.label("trendable"),
        said.c.reviewed_at.is_not(None).label("reviewed"),
        said.c.requested_review_at.is_not(None).label("requested"),
    ]


def _tags() -> Select[Any]:
    none = literal_column("NULL", String)
    found = _columns(tag_trends.c.tag_id, tag_rows.c.display, none, tag_trends, tag_rows.c.trendable, tag_rows)
    source = tag_trends.join(tag_rows, tag_rows.c.id == tag_trends.c.tag_id)
    is_trend = and_(tag_trends.c.score >= literal_column(str(LEAST_USAGE_SCORE)), tag_rows.c.usable)
    return select(*found).select_from(source).where(is_trend)


def _links() -> Select[Any]:
    trendable = func.coalesce(link_trends.c.trendable, link_publishers.c.trendable, type_=Boolean())
    found = _columns(
        link_publishers.c.id, cards.c.url, link_trends.c.language, link_trends, trendable, link_publishers
    )  # fmt: skip
    source = link_trends.join(cards, cards.c.id == link_trends.c.card_id).join(
        link_publishers, link_publishers.c.id == link_trends.c.publisher_id
    )
    is_trend = link_trends.c.score >= literal_column(str(LEAST_USAGE_SCORE))
    return select(*found).select_from(source).where(is_trend)


def _statuses() -> Select[Any]:
    trendable = func.coalesce(status_trends.c.trendable, trend_authors.c.trendable, type_=Boolean())
    found = _columns(
        S.c.account_id, func.coalesce(S.c.url, S.c.uri), S.c.language, status_trends, trendable, trend_authors
    )  # fmt: skip
    source = (
        status_trends.join(S, S.c.id == status_trends.c.status_id)
        .join(A, A.c.id == S.c.account_id)
        .outerjoin(trend_authors, trend_authors.c.account_id == S.c.account_id)
    )
    is_trend = and_(
        has_score(S.c.id), status_trends.c.score >= literal_column(str(LEAST_STATUS_SCORE)), may_trend(S, A)
    )
    return select(*found).select_from(source).where(is_trend)


_tag_candidates, _link_candidates, _status_candidates = (
    query(select_them, Candidate) for select_them in (_tags, _links, _statuses)
)


def near_the_top(found: Sequence[Candidate], *, by_default: bool) -> list[Candidate]:
    """Those to ask about: better than the third of what is shown in the same language."""
    asked: dict[int, Candidate] = {}
    ranked = sorted(found, key=lambda one: -one.score)
    for language in dict.fromkeys(one.language for one in ranked):
        alike = [one for one in ranked if one.language == language]
        shown = [one.score for one in alike if (by_default if one.trendable is None else one.trendable)]
        least = shown[FIRST - 1] if len(shown) >= FIRST else 0.0
        for one in alike:
            waits = one.trendable is None and not by_default and not one.reviewed and not one.requested
            if waits and one.score > least:
                asked.setdefault(one.subject_id, one)
    return list(asked.values())


async def ask_for_review(work: Work) -> None:
    """One mail to each of the team who may review, about all that is new."""
    settings = await store.settings(work.db)
    if not settings.enabled:
        return
    asked = [
        near_the_top(await work.db.slow(candidates), by_default=settings.trendable_by_default)
        for candidates in (_tag_candidates, _link_candidates, _status_candidates)
    ]
    found_tags, found_links, found_statuses = asked
    if not any(asked):
        return
    await tags.ask_for_review(work.db, [one.subject_id for one in found_tags], work.now)
    await review_store.ask_about_publishers(work.db, [one.subject_id for one in found_links], work.now)
    await review_store.ask_about_authors(work.db, [AccountId(one.subject_id) for one in found_statuses], work.now)
    await _tell_team(work, found_tags, found_links, found_statuses)


async def _tell_team(
    work: Work, found_tags: list[Candidate], links: list[Candidate], posts: list[Candidate]
) -> None:  # fmt: skip
    told = {
        "tags": ", ".join(f"#{one.name}" for one in found_tags),
        "links": ", ".join(one.name for one in links),
        "posts": ", ".join(one.name for one in posts),
        "link": f"{work.settings.base_url}/admin/trends",
    }
    for one in await team.who_may(work, PERMISSION):
        send(work, mails.TRENDS, one.email, one.locale, **told)
