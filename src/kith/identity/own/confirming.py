"""Showing once more that it is you, on one's own pages; the rule itself is in `confirmation`."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity import confirmation
from kith.identity.own.visitor import Visitor


def is_fresh(work: Work, me: Visitor) -> bool:
    return confirmation.is_fresh(me.session, work.now)


async def is_password(work: Work, me: Visitor, given: str) -> bool:
    return await confirmation.is_password(work, me.user, given)
