"""The people who want to be found."""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import and_, bindparam

from kith.base.db import Query, query
from kith.base.work import Work
from kith.social.accounts.access import is_there
from kith.social.accounts.lines import A, AccountRow, lines
from kith.social.ids import AccountId
from kith.social.relationships import rules


@lru_cache(8)
def _people(*, anonymous: bool, newest: bool, local: bool) -> Query[AccountRow]:
    clauses = [is_there(A), A.c.discoverable, A.c.silenced_at.is_(None), A.c.moved_to.is_(None)]
    clauses.append(rules.shows_author(None if anonymous else rules.ME, A))
    if local:
        clauses.append(A.c.domain == "")
    order = [A.c.id.desc()] if newest else [A.c.last_status_at.is_(None), A.c.last_status_at.desc(), A.c.id.desc()]
    found = lines().where(and_(*clauses)).order_by(*order)
    return query(found.limit(bindparam("limit")).offset(bindparam("offset")), AccountRow, wire=True)


async def read(
    work: Work, me: AccountId | None, *, newest: bool, local: bool, limit: int, offset: int
) -> list[AccountRow]:
    """Those who posted last first, or those who came last; without whom the viewer does not want to see."""
    statement = _people(anonymous=me is None, newest=newest, local=local)
    return await work.db.slow(statement, me=me, now=work.now, limit=limit, offset=offset)
