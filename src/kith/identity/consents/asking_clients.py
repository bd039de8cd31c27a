"""A port for the clients that ask for consent; they belong to rooms above, which implement it."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class AskingClients(Protocol):
    async def is_still(self, work: Work, client_id: str, identity: str) -> bool:
        """Whether the client still is who it was when people were asked; it stays so until the work is over."""
