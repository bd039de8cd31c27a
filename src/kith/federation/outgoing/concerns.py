"""Whether something concerns another server at all: asked before a job is made, in one question each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import select

from kith.base.db import Session, any_of, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.people.tables import actors
from kith.social.ids import AccountId

__all__ = ["any_elsewhere", "between_servers", "knows_anybody"]

_elsewhere = query(select(actors.c.account_id).where(any_of(actors.c.account_id, "ids")).limit(1), int)
_anybody = query(select(actors.c.account_id).limit(1), int)

Later = Callable[[Work, Any], Awaitable[None]]


async def any_elsewhere(db: Session, *ids: AccountId) -> bool:
    """Whether one of these lives on another server."""
    return await db.one(_elsewhere, ids=list(ids)) is not None


async def knows_anybody(db: Session) -> bool:
    return await db.one(_anybody) is not None


def between_servers(kind: JobKind[Any]) -> Later:
    """For what happens between two people: a job, unless both live here."""

    async def enqueue(work: Work, fact: Any) -> None:
        if await any_elsewhere(work.db, fact.account_id, fact.target_id):
            work.enqueue(kind, fact)

    return enqueue
