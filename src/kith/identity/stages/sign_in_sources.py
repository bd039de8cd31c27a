"""A port for other places people sign in with; the sources, which are above the flows, implement it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kith.base.work import Work
from kith.identity.flows.plan_context import PendingConnection
from kith.identity.users.tables import User


class SignInSources(Protocol):
    async def offered(self, work: Work, chosen: Sequence[str], query: Mapping[str, str]) -> list[dict[str, Any]]:
        """The enabled ones of those selected, promoted ones first, each with the address where it begins."""
        ...

    async def gives_address(self, work: Work, coming: PendingConnection) -> bool:
        """Whether the word of the source makes the address that it has checked the one of a new person."""
        ...

    async def connect(self, work: Work, user: User, coming: PendingConnection) -> None:
        """Keep which identifier of the source is this new person, in the transaction that makes them."""
        ...

    async def admits(
        self, work: Work, user: User, coming: PendingConnection, context: dict[str, Any], *, client_ip: str
    ) -> bool:
        """Whether the source still lets this person in: it may be gone or closed, or unlinked, since they came.

        Call it before any write.
        """
        ...

    async def arrived(self, work: Work, user: User, coming: PendingConnection, session_uuid: str) -> str:
        """Keep the connection of somebody who has signed in, and their groups there.

        Returns the name of the source; empty if the source or the connection has gone meanwhile.
        """
        ...

    async def try_password(self, work: Work, user: User, given: str) -> str | None:
        """The source whose directory knows this person and takes the password. Call it before any write."""
        ...

    async def keep_password(self, work: Work, user: User, source: str, given: str, stamp: str) -> str | None:
        """Keep a password that the directory of `source` has taken, where it wants that, for somebody who may come in.

        Nothing is kept if what guards the account is not as `stamp` says any more. Otherwise returns the new stamp.
        """
        ...
