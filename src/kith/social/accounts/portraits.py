"""The picture and the profile of somebody's account, for applications that they enter with it."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.for_social import Pictures
from kith.social.accounts import store
from kith.social.accounts.shapes import avatar_url
from kith.social.ids import UserId


class Portraits(Pictures):
    async def find(self, work: Work, user_id: UserId) -> str | None:
        """None for whoever has chosen none, or has no account yet."""
        account = await store.find_of_user(work.db, user_id)
        if account is None or not account.avatar or account.is_gone:
            return None
        return avatar_url(work.settings, account)

    async def find_page(self, work: Work, user_id: UserId) -> str | None:
        """None for whoever has no account yet."""
        account = await store.find_of_user(work.db, user_id)
        return None if account is None or account.is_gone else account.url or account.uri
