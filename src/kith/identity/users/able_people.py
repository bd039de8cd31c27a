"""Whether somebody may do anything at all at this moment."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.users import store
from kith.identity.users.tables import User


def may_act(work: Work, user: User | None) -> bool:
    if user is None or not user.is_active or user.approved_at is None:
        return False
    return user.confirmed_at is not None or not user.email or not work.settings.confirm_email


async def find_able(work: Work, user_id: int | None) -> User | None:
    user = await store.find_by_id(work.db, user_id) if user_id is not None else None
    return user if may_act(work, user) else None
