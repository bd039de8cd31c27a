"""The keys that others check our signatures with: a port. The room of the keys has them."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.social.ids import AccountId


class PublicKeys(Protocol):
    async def public_key(self, work: Work, owner: AccountId | None) -> str:
        """Of somebody here, or of the server itself, as PEM text; made if there is none yet."""
        ...
