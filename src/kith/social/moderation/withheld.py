"""What stays behind: files of suspended accounts are not handed out, and reported posts not purged."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, select

from kith.base.db import query
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.media.tables import media
from kith.social.moderation import store

LARGEST = (1 << 63) - 1

_of_account = query(
    select(accounts.c.id).where(and_(accounts.c.id == bindparam("id"), accounts.c.suspended_at.is_not(None))), int
)
_of_media = query(
    select(media.c.id)
    .join(accounts, accounts.c.id == media.c.account_id)
    .where(and_(media.c.id == bindparam("id"), accounts.c.suspended_at.is_not(None))),
    int,
)


class OfSuspended:
    async def is_withheld(self, work: Work, shelf: str, id: int) -> bool:
        if id > LARGEST:
            return False
        return await work.db.one(_of_media if shelf == "attachments" else _of_account, id=id) is not None


class InOpenReports:
    async def held(self, work: Work) -> list[int]:
        return await store.held_statuses(work.db)
