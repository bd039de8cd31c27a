"""Who is calling, once that is known."""

from __future__ import annotations

from typing import Protocol

import msgspec

from kith.base.exchange import Exchange

ADMINISTRATORS = ("administrator", "owner")


class Caller(msgspec.Struct, frozen=True):
    """A person whose credentials were right; `scopes` is None where the whole person speaks.

    `permissions` holds what roles and groups grant; None means everything.
    """

    id: int
    username: str
    role: str
    scopes: frozenset[str] | None = None
    permissions: frozenset[str] | None = frozenset()

    def may(self, permission: str) -> bool:
        return self.permissions is None or permission in self.permissions


class Identifies(Protocol):
    """Whoever finds out who is calling."""

    async def identify(self, exchange: Exchange) -> Caller: ...
