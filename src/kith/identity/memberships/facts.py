"""The facts that the memberships room announces."""

from __future__ import annotations

from kith.base.news import Fact


class MembershipEnded(Fact, frozen=True):
    """Somebody's membership has ended: at the moment that was set for it, or because somebody ended it."""

    user_id: int
    group_uuid: str
