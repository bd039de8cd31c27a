from __future__ import annotations

from typing import Protocol

from kith.base.exchange import Exchange
from kith.identity.caller import ApiCaller

__all__ = ["CallerLookup"]


class CallerLookup(Protocol):
    """Finds out who is calling; implemented by `caller_authentication`."""

    async def identify(self, exchange: Exchange) -> ApiCaller: ...
