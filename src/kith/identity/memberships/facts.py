"""The facts that the memberships room announces."""

from __future__ import annotations

from kith.base.news import Fact


class MembershipEnded(Fact, frozen=True):
    """The end that was set for somebody's membership has come."""

    user_id: int
    group_uuid: str
