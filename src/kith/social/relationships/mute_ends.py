"""When the next of somebody's mutes ends: what was read for them until then may be another after it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, func, select

from kith.base.caches import UntilWritten
from kith.base.db import Instant, query
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.relationships.tables import mutes


class NextEnd(NamedTuple):
    """None where no mute ends by itself."""

    at: datetime | None


_next_end = query(
    select(func.min(mutes.c.expires_at, type_=Instant()).label("at")).where(
        and_(mutes.c.account_id == bindparam("me"), mutes.c.expires_at > bindparam("now", type_=Instant()))
    ),
    NextEnd,
)


async def next_end_of_mute(work: Work, me: AccountId | None) -> datetime | None:
    """Part of the key of what is kept until somebody writes. Where nothing is kept, it is not asked for."""
    kept, key = work.find(UntilWritten), ("next end of mute", me)
    version = kept.now()
    if version is None or me is None:
        return None
    found: NextEnd | None = kept.get(version, key)
    if found is None or (found.at is not None and found.at <= work.now):
        found = await work.db.one(_next_end, me=me, now=work.now) or NextEnd(None)
        kept.put(version, key, found, size=100)
    return found.at
