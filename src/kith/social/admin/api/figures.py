"""Figures for the team's dashboard."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.routing import FromRequest, MayLag, post
from kith.base.work import Work
from kith.social.admin import dimensions, measures, retention
from kith.social.admin.periods import read_period
from kith.social.staff import staff

SEE = staff("view_dashboard", scope="admin:read")
MOST_KEYS = 50
LIMIT, MOST = 10, 100
LONGEST_BY_DAY = 100


class FigureQuery(msgspec.Struct, kw_only=True):
    keys: list[str]
    start_at: str = ""
    end_at: str = ""
    limit: int = LIMIT
    tag_accounts: dict[str, str] = {}
    tag_uses: dict[str, str] = {}
    tag_servers: dict[str, str] = {}
    tag_languages: dict[str, str] = {}
    instance_accounts: dict[str, str] = {}
    instance_media_attachments: dict[str, str] = {}
    instance_reports: dict[str, str] = {}
    instance_statuses: dict[str, str] = {}
    instance_follows: dict[str, str] = {}
    instance_followers: dict[str, str] = {}
    instance_languages: dict[str, str] = {}

    def about(self) -> dict[str, dict[str, str]]:
        return {key: getattr(self, key, {}) for key in self.keys if key.startswith(("tag_", "instance_"))}


class Between(msgspec.Struct, kw_only=True):
    start_at: str = ""
    end_at: str = ""
    frequency: str = "day"


def _checked(asked: FigureQuery) -> FigureQuery:
    if len(asked.keys) > MOST_KEYS:
        raise Invalid(fields={"keys": [Complaint(f"is too long (maximum is {MOST_KEYS} entries)", "too_many")]})
    return asked


@post("/api/v1/admin/measures", guards=[SEE], may_lag=MayLag.EVERYBODY)
async def show_measures(work: Work, asked: FromRequest[FigureQuery]) -> list[dict[str, Any]]:
    period = read_period(asked.start_at, asked.end_at)
    return await measures.measure(work, list(dict.fromkeys(_checked(asked).keys)), period, asked.about())


@post("/api/v1/admin/dimensions", guards=[SEE], may_lag=MayLag.EVERYBODY)
async def show_dimensions(work: Work, asked: FromRequest[FigureQuery]) -> list[dict[str, Any]]:
    today = work.now.date().isoformat()
    period = read_period(asked.start_at or today, asked.end_at or today)
    limit = min(abs(asked.limit) or LIMIT, MOST)
    return await dimensions.dimensions(work, list(dict.fromkeys(_checked(asked).keys)), period, asked.about(), limit)


@post("/api/v1/admin/retention", guards=[SEE], may_lag=MayLag.EVERYBODY)
async def show_retention(work: Work, asked: FromRequest[Between]) -> list[dict[str, Any]]:
    if asked.frequency not in retention.LENGTHS:
        raise Invalid(fields={"frequency": [Complaint("is not included in the list", "inclusion")]})
    period = read_period(asked.start_at, asked.end_at)
    if asked.frequency == "day" and (period.last - period.first).days > LONGEST_BY_DAY:
        raise Invalid(fields={"end_at": [Complaint("is too far from the start to count by day")]})
    return await retention.cohorts(work, period, asked.frequency)


routes = [show_measures, show_dimensions, show_retention]
