"""Whether a stored file is not to be handed out although it is there: a port. Rooms above know whose it is."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class Withheld(Protocol):
    async def is_withheld(self, work: Work, shelf: str, id: int) -> bool:
        """`id` is that of the attachment, or of the account whose picture it is."""
        ...
