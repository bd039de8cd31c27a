"""Accounts follow their owners' records."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import user_accounts
from kith.social.ids import UserId


class KeepUp(msgspec.Struct):
    """Somebody's record was made or changed."""

    user_id: UserId


async def keep_up(work: Work, payload: KeepUp) -> None:
    await user_accounts.keep_up(work, payload.user_id)


KEEP_UP: JobKind[KeepUp] = JobKind(name="accounts.keep_up", payload=KeepUp, handler=keep_up)
