"""Finding people elsewhere: a port. Federation knows how; without it, those who are known are all there are."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.social.accounts.tables import Account


class Directory(Protocol):
    async def find(self, work: Work, username: str, domain: str) -> Account | None:
        """Somebody elsewhere, looked up there if need be; None when there is nobody by that name."""
        ...


class NoDirectory:
    """Knows nobody but those who are known already."""

    async def find(self, work: Work, username: str, domain: str) -> Account | None:  # noqa: ARG002 - the port's shape
        return None
