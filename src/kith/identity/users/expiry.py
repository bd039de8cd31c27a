"""People whose end has come."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, select

from kith.base.db import Instant, query
from kith.base.work import Work
from kith.identity.users import service
from kith.identity.users.tables import User, users

_over = query(
    select(users)
    .where(and_(users.c.expires <= bindparam("now", type_=Instant()), users.c.is_active))
    .order_by(users.c.expires)
    .limit(bindparam("most")),
    User,
)


async def end_due(work: Work, most: int) -> int:
    """Disable them, as an administrator would."""
    found = await work.db.all(_over, now=work.now, most=most)
    for user in found:
        await service.end_stay(work, user)
    return len(found)
