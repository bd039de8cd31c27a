"""People and posts of other servers by their address: a port. Federation knows how to ask there."""

from __future__ import annotations

from typing import Protocol

import msgspec

from kith.base.work import Work
from kith.social.ids import AccountId, StatusId

__all__ = ["Elsewhere", "FoundElsewhere", "NothingElsewhere"]


class FoundElsewhere(msgspec.Struct, frozen=True):
    """Somebody, or something that was posted: known here from now on."""

    account_id: AccountId | None = None
    status_id: StatusId | None = None


class Elsewhere(Protocol):
    async def look_up(self, work: Work, address: str) -> FoundElsewhere | None:
        """What an address leads to, fetched and kept; None for nothing. Call it before the first write."""
        ...


class NothingElsewhere:
    """Asks nobody."""

    async def look_up(self, work: Work, address: str) -> FoundElsewhere | None:  # noqa: ARG002 - the port's shape
        return None
