"""When somebody's followers came."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, func, select

from kith.base.db import Instant, Session, query
from kith.social.days import month_of
from kith.social.ids import AccountId
from kith.social.relationships.tables import follows

_account: BindParameter[Any] = bindparam("account")
_month = month_of(follows.c.created_at)
_by_month = query(
    select(_month, func.count())
    .where(
        and_(
            follows.c.target_id == _account,
            follows.c.created_at >= bindparam("first", type_=Instant()),
            follows.c.created_at < bindparam("end", type_=Instant()),
        )
    )
    .group_by(_month),
    tuple,
)


async def followers_by_month(db: Session, account_id: AccountId, first: datetime, end: datetime) -> dict[int, int]:
    """Of those who still follow: how many came in which month of a year."""
    return dict(await db.slow(_by_month, account=account_id, first=first, end=end))
