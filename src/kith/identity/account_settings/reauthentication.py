"""Asking for the password once more on the settings pages; the rule itself is in `identity.reauthentication`."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity import reauthentication
from kith.identity.account_settings.visitor import Visitor


def is_fresh(work: Work, me: Visitor) -> bool:
    return reauthentication.is_fresh(me.session, work.now)


async def is_password(work: Work, me: Visitor, given: str) -> bool:
    return await reauthentication.is_password(work, me.user, given)
