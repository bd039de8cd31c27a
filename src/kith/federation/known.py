"""What processing may ask for: accounts and posts by their ids, as far as they are known here.

Processing reads and writes rows and never fetches. What it needs and does not find it names by raising `Missing`;
whoever drives it fetches that, stores it in a transaction of its own and starts again. What could not be fetched is
told to the next try, which goes on without it or gives up.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Literal

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status

__all__ = ["Known", "Missing"]

MissingKind = Literal["actor", "note"]


class Missing(Exception):  # noqa: N818 - it says what is missing
    """Something elsewhere has to be fetched before this can go on."""

    def __init__(self, kind: MissingKind, uri: str) -> None:
        super().__init__(f"{kind} {uri}")
        self.kind = kind
        self.uri = uri


class Known:
    """What is known here, and what is known to be out of reach.

    And of the activity that is looked at: whose inbox it came to, if it was not the shared one, and when its sender
    has signed it.
    """

    def __init__(
        self,
        unreachable: Collection[str] = (),
        *,
        delivered_to: AccountId | None = None,
        signed_at: datetime | None = None,
    ) -> None:
        self._unreachable = unreachable
        self.delivered_to = delivered_to
        self.signed_at = signed_at

    def is_unreachable(self, uri: str) -> bool:
        return uri in self._unreachable

    async def actor(self, work: Work, uri: str) -> Account | None:
        """None where it cannot be had."""
        found = await accounts.find_by_uri(work.db, uri)
        if found is None and uri not in self._unreachable:
            raise Missing("actor", uri)
        return found

    async def status(self, work: Work, uri: str) -> Status | None:
        found = await statuses.find_by_uri(work.db, uri)
        if found is None and uri not in self._unreachable:
            raise Missing("note", uri)
        return found
