"""When somebody was last here: in a browser, or with an app."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, func, select, union_all

from kith.base.db import Instant, Session, query
from kith.identity.providers.oauth2.tables import grants, oauth_tokens
from kith.identity.sessions.tables import sessions

_user: BindParameter[Any] = bindparam("user")


def _of_tokens(column: Any) -> Select[Any]:
    return (
        select(func.max(column, type_=Instant()).label("at"))
        .select_from(oauth_tokens.join(grants, grants.c.grant_uuid == oauth_tokens.c.grant_uuid))
        .where(grants.c.user_id == _user)
    )


_moments = query(
    union_all(
        select(func.max(sessions.c.last_used_at, type_=Instant()).label("at")).where(sessions.c.user_id == _user),
        _of_tokens(oauth_tokens.c.created_at),
        _of_tokens(oauth_tokens.c.last_used_at),
    ),
    datetime,
)


async def last_seen(db: Session, user_id: int) -> datetime | None:
    """To the day, for the use of a token is noted once a day."""
    found = [at for at in await db.all(_moments, user=user_id) if at is not None]
    return max(found, default=None)
