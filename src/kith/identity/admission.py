"""A port by which the social half can keep somebody from signing in."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class Admission(Protocol):
    async def may_sign_in(self, work: Work, user_id: int) -> bool:
        """False for a memorial account, kept after its owner died."""
        ...
