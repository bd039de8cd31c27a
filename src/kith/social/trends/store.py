"""The rows that trends are read from, and their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Table, and_, bindparam, delete, select, update

from kith.base.db import Command, Instant, Session, add_once, any_of, command, query, upsert
from kith.social.ids import StatusId
from kith.social.tags.tables import tags
from kith.social.trends.figures import LinkDay
from kith.social.trends.scores import Peak
from kith.social.trends.tables import (
    TrendSettings,
    link_days,
    link_trends,
    status_trends,
    tag_trends,
    trend_settings,
)

ONLY = 1  # the id of the one row of settings
_now = bindparam("now", type_=Instant())


class PeakRow(NamedTuple):
    id: int
    max_score: float
    max_score_at: datetime | None


class ScoreRow(NamedTuple):
    """What the score of a tag or a link is from now on."""

    id: int
    score: float
    peak: Peak
    publisher_id: int | None = None
    language: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        return {"score": self.score, "max_score": self.peak.score, "max_score_at": self.peak.at}


def put(table: Table, key: str, *names: str, new: Mapping[str, Any] | None = None) -> Command:
    """A row with these values, and with `new` ones if it is new; one that is there keeps its others."""
    given = {name: bindparam(name, type_=table.c[name].type) for name in (key, *names)}
    row = upsert(table).values({**given, **(new or {})})
    values = {name: row.excluded[name] for name in names}
    return command(row.on_conflict_do_update(index_elements=[table.c[key]], set_=values).inline())


# Settings

_settings = query(
    select(trend_settings.c.enabled, trend_settings.c.trendable_by_default).where(trend_settings.c.id == ONLY),
    TrendSettings,
)
_change_settings = put(trend_settings, "id", "enabled", "trendable_by_default", "updated_at")


async def settings(db: Session) -> TrendSettings:
    return await db.one(_settings) or TrendSettings()


async def change_settings(db: Session, changed: TrendSettings, now: datetime) -> None:
    await db.run(_change_settings, id=ONLY, updated_at=now, **msgspec.structs.asdict(changed))


# Scores

_SCORES = ("score", "max_score", "max_score_at")
_score_tag = put(tag_trends, "tag_id", *_SCORES)
_score_link = put(link_trends, "card_id", *_SCORES, "publisher_id", "language")
_score_status = put(status_trends, "status_id", "score")
_tag_peaks = query(select(tag_trends.c.tag_id.label("id"), tag_trends.c.max_score, tag_trends.c.max_score_at), PeakRow)
_any_tag = query(
    select(tag_trends.c.tag_id)
    .select_from(tag_trends.join(tags, tags.c.id == tag_trends.c.tag_id))
    .where(any_of(tags.c.name, "names"))
    .limit(1),
    int,
)
_drop_tags = command(delete(tag_trends).where(any_of(tag_trends.c.tag_id, "ids")))
_link_peaks = query(
    select(link_trends.c.card_id.label("id"), link_trends.c.max_score, link_trends.c.max_score_at).where(
        any_of(link_trends.c.card_id, "ids")
    ),
    PeakRow,
)
_unscore_links = command(
    update(link_trends).where(any_of(link_trends.c.card_id, "ids")).values(score=0.0, max_score=0.0, max_score_at=None)
)
_drop_links = command(delete(link_trends).where(and_(link_trends.c.trendable.is_(None), link_trends.c.max_score == 0)))
_forget_days = command(delete(link_days).where(any_of(link_days.c.card_id, "ids")))
_add_day = command(add_once(link_days))
_is_over = and_(status_trends.c.score > 0, ~any_of(status_trends.c.status_id, "ids"))
_unscore_statuses = command(update(status_trends).where(_is_over).values(score=0.0))
_drop_statuses = command(
    delete(status_trends).where(and_(status_trends.c.trendable.is_(None), status_trends.c.score == 0))
)


async def any_trending_tag(db: Session, names: Sequence[str]) -> bool:
    return bool(names) and await db.one(_any_tag, names=list(names)) is not None


async def tag_peaks(db: Session) -> dict[int, Peak]:
    return {row.id: Peak(row.max_score, row.max_score_at) for row in await db.all(_tag_peaks)}


async def score_tags(db: Session, rows: Sequence[ScoreRow]) -> None:
    """What has no peak any more is no trend any more."""
    kept = [{"tag_id": row.id, **row.values} for row in rows if row.peak.at is not None]
    over = [row.id for row in rows if row.peak.at is None]
    if kept:
        await db.many(_score_tag, kept)
    if over:
        await db.run(_drop_tags, ids=over)


async def link_peaks(db: Session, ids: Sequence[int]) -> dict[int, Peak]:
    return {row.id: Peak(row.max_score, row.max_score_at) for row in await db.all(_link_peaks, ids=list(ids))}


async def score_links(db: Session, rows: Sequence[ScoreRow], days: Sequence[LinkDay]) -> None:
    """What the team has said of a link is kept."""
    kept = [
        {"card_id": row.id, "publisher_id": row.publisher_id, "language": row.language, **row.values}
        for row in rows
        if row.peak.at is not None
    ]
    over = [row.id for row in rows if row.peak.at is None]
    if kept:
        await db.many(_score_link, kept)
    if over:
        await db.run(_unscore_links, ids=over)
        await db.run(_drop_links)
    if rows:
        await db.run(_forget_days, ids=[row.id for row in rows])
    there = {one["card_id"] for one in kept}
    told = [day._asdict() for day in days if day.card_id in there]
    if told:
        await db.many(_add_day, told)


async def score_statuses(db: Session, scores: Mapping[StatusId, float]) -> None:
    """These have a score, and no others."""
    if scores:
        rows = [{"status_id": id, "score": score} for id, score in sorted(scores.items())]
        await db.many(_score_status, rows)
    await db.run(_unscore_statuses, ids=list(scores))
    await db.run(_drop_statuses)


# History

_link_days = query(
    select(link_days.c.card_id, link_days.c.day, link_days.c.accounts, link_days.c.uses).where(
        and_(any_of(link_days.c.card_id, "ids"), link_days.c.day >= bindparam("since"))
    ),
    LinkDay,
)


async def history_of_links(db: Session, ids: Sequence[int], since: str) -> list[LinkDay]:
    return await db.all(_link_days, ids=list(ids), since=since) if ids else []
