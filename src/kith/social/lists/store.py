from __future__ import annotations

from sqlalchemy import and_, bindparam, select

from kith.base.db import Session, query
from kith.social.lists.tables import List, lists

_one = query(select(lists).where(and_(lists.c.id == bindparam("list"), lists.c.account_id == bindparam("me"))), List)


async def find(db: Session, me: int, list_id: int) -> List | None:
    """One of my own lists."""
    return await db.one(_one, list=list_id, me=me)
