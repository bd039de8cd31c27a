"""Follows that ended with a server, for whoever tells it so once it is let in again."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BindParameter, and_, bindparam, or_, select

from kith.base.db import Instant, Session, query
from kith.social.ids import AccountId
from kith.social.moderation.tables import severances, severed_follows

__all__ = ["EndedFollow", "ended_with_server"]


class EndedFollow(msgspec.Struct, frozen=True):
    """Of somebody here, `following` or followed by somebody elsewhere."""

    severance_id: int
    account_id: AccountId
    following: bool
    acct: str


_after: BindParameter[int] = bindparam("after")
_ended = query(
    select(
        severances.c.id.label("severance_id"),
        severances.c.account_id,
        severed_follows.c.following,
        severed_follows.c.acct,
    )
    .select_from(severed_follows.join(severances, severances.c.id == severed_follows.c.severance_id))
    .where(
        and_(
            severances.c.type == "domain_block",
            severances.c.created_at >= bindparam("since", type_=Instant()),
            severed_follows.c.following == bindparam("following"),
            or_(
                severed_follows.c.acct.like(bindparam("there"), escape="!"),
                severed_follows.c.acct.like(bindparam("below"), escape="!"),
            ),
            or_(
                severances.c.id > _after,
                and_(severances.c.id == _after, severed_follows.c.acct > bindparam("after_acct")),
            ),
        )
    )
    .order_by(severances.c.id, severed_follows.c.acct)
    .limit(bindparam("most")),
    EndedFollow,
)


async def ended_with_server(
    db: Session, domain: str, since: datetime, *, following: bool, after: tuple[int, str], most: int
) -> list[EndedFollow]:
    """Those that ended since then because a domain, or one below it, was shut out; the next after a given one."""
    name = domain.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return await db.slow(
        _ended,
        since=since,
        following=following,
        there=f"%@{name}",
        below=f"%.{name}",
        after=after[0],
        after_acct=after[1],
        most=most,
    )
