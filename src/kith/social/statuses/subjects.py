"""What somebody marks: no more of a status than that needs, and whether its author is blocked, in one question."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select

from kith.base.db import Session, alias_of, query
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import rules
from kith.social.statuses import access
from kith.social.statuses.tables import statuses

__all__ = ["Subject", "find"]

S, A = alias_of(statuses, "s"), alias_of(accounts, "a")


class Subject(msgspec.Struct, frozen=True):
    id: StatusId
    account_id: AccountId
    conversation_id: int
    reblog_of_id: StatusId | None
    is_blocked: bool
    local: bool


def _visible() -> Any:
    blocked = rules.blocks(access.ME, S.c.account_id).label("is_blocked")
    return (
        select(S.c.id, S.c.account_id, S.c.conversation_id, S.c.reblog_of_id, blocked, S.c.local)
        .select_from(S.join(A, A.c.id == S.c.account_id))
        .where(and_(S.c.id == bindparam("status"), access.visible(S, A)))
    )


_find = query(_visible, Subject)


async def find(db: Session, status_id: StatusId, me: AccountId) -> Subject | None:
    """The status, or what it boosts, if the viewer may see it."""
    found = await db.one(_find, status=status_id, me=me)
    if found is not None and found.reblog_of_id is not None:
        found = await db.one(_find, status=found.reblog_of_id, me=me)
    return found
