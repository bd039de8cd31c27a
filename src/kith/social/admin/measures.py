"""Figures by day, counted from what is there: one statement for the days, and one for each total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    and_,
    bindparam,
    distinct,
    func,
    or_,
    select,
    true,
    union_all,
)

from kith.base.db import Instant, Query, query
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.admin.periods import Period, is_about_then, midnight
from kith.social.days import day_of
from kith.social.instance.tables import presence
from kith.social.media.tables import media
from kith.social.moderation.tables import reports
from kith.social.moments import second
from kith.social.relationships import figures as follows
from kith.social.statuses.tables import favourites, statuses
from kith.social.tags.tables import status_tags

_start, _end = bindparam("start", type_=Instant()), bindparam("end", type_=Instant())
_first: BindParameter[Any] = bindparam("first")
_last: BindParameter[Any] = bindparam("last")
_about: BindParameter[Any] = bindparam("about")
_local = accounts.c.domain == ""
_there = accounts.c.domain == _about


class Measure(msgspec.Struct, frozen=True):
    """`by_day` gives days with their figures, `total` one figure for a period, both from its bounds."""

    by_day: Query[Any]
    total: Query[int]
    about: str = ""  # which parameter says whom it is about: `id` or `domain`
    is_ever: bool = False  # the total counts all there is


def _counted(
    source: FromClause,
    at: ColumnElement[Any],
    clause: ColumnElement[bool],
    *,
    id: ColumnElement[Any] | None = None,
    what: Any = None,
    about: str = "",
    is_ever: bool = False,
) -> Measure:
    """`id` of the rows, where there may be many of them."""
    count = func.count() if what is None else func.count(distinct(what))
    within = and_(clause, at >= _start, at < _end, true() if id is None else is_about_then(id))
    day = day_of(at)
    return Measure(
        query(select(day, count).select_from(source).where(within).group_by(day), tuple),
        query(select(count).select_from(source).where(clause if is_ever else within), int),
        about,
        is_ever,
    )


def _present() -> Measure:
    within = and_(presence.c.day >= _first, presence.c.day <= _last)
    return Measure(
        query(select(presence.c.day, func.count()).where(within).group_by(presence.c.day), tuple),
        query(select(func.count(distinct(presence.c.user_id))).where(within), int),
    )


def _interactions() -> Measure:
    """What people here do with posts: favourites, boosts, and answers to others."""
    said = and_(
        statuses.c.deleted_at.is_(None),
        or_(
            statuses.c.reblog_of_id.is_not(None),
            and_(
                statuses.c.in_reply_to_account_id.is_not(None),
                statuses.c.in_reply_to_account_id != statuses.c.account_id,
            ),
        ),
    )
    liked = favourites.join(accounts, accounts.c.id == favourites.c.account_id)
    done = union_all(
        select(statuses.c.created_at.label("at"))
        .select_from(statuses.join(accounts, accounts.c.id == statuses.c.account_id))
        .where(and_(_local, said, is_about_then(statuses.c.id))),
        select(favourites.c.created_at.label("at"))
        .select_from(liked)
        .where(and_(_local, is_about_then(favourites.c.id))),
    ).subquery()
    return _counted(done, done.c.at, done.c.at.is_not(None))


_tagged = status_tags.join(statuses, statuses.c.id == status_tags.c.status_id)
_tagged_by = _tagged.join(accounts, accounts.c.id == statuses.c.account_id)


def _tag_measure(source: FromClause, what: Any = None) -> Measure:
    clause = and_(status_tags.c.tag_id == _about, statuses.c.deleted_at.is_(None))
    return _counted(source, statuses.c.created_at, clause, id=status_tags.c.status_id, what=what, about="id")


_on_statuses = statuses.join(accounts, accounts.c.id == statuses.c.account_id)
_on_media = media.join(accounts, accounts.c.id == media.c.account_id)
_on_reports = reports.join(accounts, accounts.c.id == reports.c.target_id)
_any = reports.c.id.is_not(None)

MEASURES: dict[str, Measure] = {
    "active_users": _present(),
    "new_users": _counted(accounts, accounts.c.created_at, and_(_local, accounts.c.is_listed)),
    "interactions": _interactions(),
    "opened_reports": _counted(reports, reports.c.created_at, _any),
    "resolved_reports": _counted(reports, reports.c.action_taken_at, _any),
    "tag_accounts": _tag_measure(_tagged, what=statuses.c.account_id),
    "tag_uses": _tag_measure(_tagged),
    "tag_servers": _tag_measure(_tagged_by, what=accounts.c.domain),
    "instance_accounts": _counted(accounts, accounts.c.created_at, _there, about="domain", is_ever=True),
    "instance_media_attachments": _counted(_on_media, media.c.created_at, _there, about="domain", is_ever=True),
    "instance_reports": _counted(_on_reports, reports.c.created_at, _there, about="domain", is_ever=True),
    "instance_statuses": _counted(
        _on_statuses,
        statuses.c.created_at,
        and_(_there, statuses.c.deleted_at.is_(None)),
        id=statuses.c.id,
        about="domain",
        is_ever=True,
    ),
    "instance_follows": Measure(follows.FOLLOWED_BY_DAY, follows.FOLLOWED, "domain", True),
    "instance_followers": Measure(follows.FOLLOWERS_BY_DAY, follows.FOLLOWERS, "domain", True),
}


async def measure(
    work: Work, keys: Sequence[str], period: Period, about: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """In the order they were asked for; what nobody can count is left out."""
    return [await _measure(work, key, period, about.get(key, {})) for key in keys if key in MEASURES]


async def _measure(work: Work, key: str, period: Period, about: Mapping[str, str]) -> dict[str, Any]:
    counted = MEASURES[key]
    whom = subject_of(about.get(counted.about, ""), counted.about)
    days = dict(await work.db.slow(counted.by_day, **period.bounds(), about=whom))
    told: dict[str, Any] = {
        "key": key,
        "unit": None,
        "total": str(await _total(work, counted, period, whom)),
        "data": [{"date": second(midnight(day)), "value": str(days.get(day.isoformat(), 0))} for day in period.days()],
    }
    if not counted.is_ever:
        told["previous_total"] = str(await _total(work, counted, period.before(), whom))
    return told


def subject_of(text: str, kind: str) -> Any:
    if kind == "id":
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
    return text.strip().lower().replace("\0", "") or "-"


async def _total(work: Work, counted: Measure, period: Period, whom: Any) -> int:
    found = await work.db.slow(counted.total, **period.bounds(), about=whom)
    return found[0] if found else 0
