"""How many sign-ins there were on each day, and how many failed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String, and_, bindparam, cast, func, select

from kith.base.db import Instant, query
from kith.base.work import Work
from kith.identity.audit.tables import events

_day = cast(func.date(events.c.created_at), String)
_by_day = query(
    select(_day, func.count())
    .where(and_(events.c.action == bindparam("action"), events.c.created_at >= bindparam("start", type_=Instant())))
    .group_by(_day),
    tuple,
)


async def sign_ins_by_day(work: Work, start: datetime, *, failed: bool) -> dict[str, int]:
    """By days such as `2026-11-16`; a day without any is left out."""
    rows = await work.db.slow(_by_day, action="login_failed" if failed else "login", start=start)
    return {str(day): count for day, count in rows}
