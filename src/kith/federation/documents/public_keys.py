"""The keys that others check our signatures with: a port. The room of the keys has them."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.social.ids import AccountId


class PublicKeys(Protocol):
    async def public_pem(self, work: Work, account_id: AccountId) -> str:
        """Of somebody here; made if there is none yet."""
        ...

    async def public_pem_of_server(self, work: Work) -> str: ...
