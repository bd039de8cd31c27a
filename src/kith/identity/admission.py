"""Whether what became of somebody elsewhere in this server still lets them sign in: a port."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class Admission(Protocol):
    async def may_sign_in(self, work: Work, user_id: int) -> bool:
        """No for an account that is kept in memory of somebody who died."""
        ...
