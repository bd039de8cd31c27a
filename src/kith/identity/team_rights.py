"""A port by which the social half says what somebody may do there for the community."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class TeamRights(Protocol):
    async def rights_of(self, work: Work, user_id: int) -> frozenset[str]:
        """What their role permits. Somebody who is not there has what everybody has."""
        ...
