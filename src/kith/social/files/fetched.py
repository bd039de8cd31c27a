"""Files that were fetched from elsewhere, and may have been dropped since: a port. Rooms above know which they are."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work


class FetchedFiles(Protocol):
    async def looked_at(self, work: Work, shelf: str, id: int) -> None:
        """Somebody looks at a file of this thing: what nobody looks at is dropped first."""
        ...

    async def is_rejected(self, work: Work, domain: str) -> bool:
        """Whether the team wants no files of a server."""
        ...

    async def bring(self, work: Work, shelf: str, id: int, key: str) -> str | None:
        """For a file that is not here: the address where it is, or None once it is here again.

        Raises `NotFound` for one that cannot be had. Call it before the first write.
        """
        ...
