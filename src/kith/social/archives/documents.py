"""People and posts as other servers read them: a port. Federation knows how to write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.statuses.tables import Status

__all__ = ["ArchiveDocuments", "ArchivedPosts"]


class ArchivedPosts(msgspec.Struct, frozen=True):
    """Each post as JSON, and the terms that explain them."""

    items: list[bytes]
    terms: frozenset[str]


class ArchiveDocuments(Protocol):
    async def person(self, work: Work, account: Account) -> bytes: ...

    async def posts(self, work: Work, account: Account, rows: Sequence[Status]) -> ArchivedPosts: ...

    def context(self, terms: frozenset[str]) -> bytes:
        """What `@context` says, as JSON."""
        ...
