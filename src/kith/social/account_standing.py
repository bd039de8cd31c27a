"""Whether what became of somebody's account lets them act: a port. Guards ask it; accounts know."""

from __future__ import annotations

from typing import Any, Protocol

from kith.base.work import Work
from kith.social.ids import UserId


class Standing(Protocol):
    async def may_act(self, work: Work, user_id: UserId, kept: dict[type, Any] | None = None) -> bool:
        """Asked with every request, so it costs next to nothing. An account that was read for it goes into `kept`."""
        ...


class PostingPermission(Protocol):
    async def may_post(self, work: Work, user_id: UserId) -> bool:
        """No for whoever has an address that the team blocks. Asked with every post, so it costs next to nothing."""
        ...
