"""How many of those who came in a day or a month were here again later."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, distinct, func, literal_column, select

from kith.base.db import Instant, Query, query
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.admin.periods import Period, midnight
from kith.social.days import day_of
from kith.social.instance.tables import presence
from kith.social.moments import second

LENGTHS = {"day": 10, "month": 7}


@lru_cache(2)
def _statements(length: int) -> tuple[Query[Any], Query[Any]]:
    cut: ColumnElement[Any] = literal_column(str(length))
    came = func.substr(day_of(accounts.c.created_at), literal_column("1"), cut)
    here = func.substr(presence.c.day, literal_column("1"), cut)
    new = and_(
        accounts.c.domain == "",
        accounts.c.user_id.is_not(None),
        accounts.c.created_at >= bindparam("start", type_=Instant()),
        accounts.c.created_at < bindparam("end", type_=Instant()),
    )
    sizes = select(came, func.count()).where(new).group_by(came)
    stayed = (
        select(came, here, func.count(distinct(presence.c.user_id)))
        .select_from(accounts.join(presence, presence.c.user_id == accounts.c.user_id))
        .where(and_(new, presence.c.day >= bindparam("first"), presence.c.day <= bindparam("last")))
        .group_by(came, here)
    )
    return query(sizes, tuple), query(stayed, tuple)


async def cohorts(work: Work, period: Period, frequency: str) -> list[dict[str, Any]]:
    """In two statements, however long the period is."""
    length = LENGTHS[frequency]
    sizes, stayed = _statements(length)
    bounds = {"start": period.start, "end": period.end}
    new = dict(await work.db.slow(sizes, **bounds))
    days = {"first": period.first.isoformat(), "last": period.last.isoformat()}
    back = {(came, here): value for came, here, value in await work.db.slow(stayed, **bounds, **days)}
    steps = list(dict.fromkeys(day.isoformat()[:length] for day in period.days()))
    return [
        {
            "period": _moment(came),
            "frequency": frequency,
            "data": [
                {
                    "date": _moment(here),
                    "rate": back.get((came, here), 0) / max(new.get(came, 0), 1),
                    "value": str(back.get((came, here), 0)),
                }
                for here in steps[place:]
            ],
        }
        for place, came in enumerate(steps)
    ]


def _moment(step: str) -> str:
    return second(midnight(date.fromisoformat(step if len(step) == 10 else f"{step}-01")))
