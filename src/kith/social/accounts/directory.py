"""Finding people elsewhere: a port. Federation knows how; without it, those who are known are all there are."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.social.accounts import store
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId


class Directory(Protocol):
    async def find(self, work: Work, username: str, domain: str) -> Account | None:
        """Somebody elsewhere, looked up there if need be; None when there is nobody by that name."""
        ...

    async def find_at(self, work: Work, address: str) -> Account | None:
        """Somebody by the address of their profile, their id or their handle, asked about anew."""
        ...

    async def opened(self, work: Work, account_id: AccountId) -> None:
        """A member looks at somebody's profile: what is missing of it may be asked for, later."""
        ...


class NoDirectory:
    """Knows nobody but those who are known already."""

    async def find(self, work: Work, username: str, domain: str) -> Account | None:  # noqa: ARG002 - the port's shape
        return None

    async def find_at(self, work: Work, address: str) -> Account | None:
        name, _, domain = address.strip().removeprefix("@").partition("@")
        if domain and "/" not in address:
            return await store.find_named(work.db, name, "" if work.settings.is_own_domain(domain) else domain)
        return await store.find_by_uri(work.db, address)

    async def opened(self, work: Work, account_id: AccountId) -> None:  # noqa: ARG002 - the port's shape
        return None
