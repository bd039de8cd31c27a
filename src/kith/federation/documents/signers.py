"""Who asks for a document: a port. The gate knows, by the signature of the request; without it all are strangers."""

from __future__ import annotations

from typing import Protocol

from kith.base.errors import Unauthenticated
from kith.base.exchange import Exchange
from kith.social.ids import AccountId

__all__ = ["AllStrangers", "Signers", "asker_of"]


class Signers(Protocol):
    async def signer(self, exchange: Exchange) -> AccountId | None:
        """Whose key a request was signed with; None for one that was not signed. A wrong signature is refused."""
        ...


class AllStrangers:
    async def signer(self, exchange: Exchange) -> AccountId | None:  # noqa: ARG002 - the port's shape
        return None


async def asker_of(exchange: Exchange) -> AccountId | None:
    """Nobody in particular, unless the request was signed; in secure mode it must be."""
    me = await exchange.find(Signers).signer(exchange)  # type: ignore[type-abstract]
    if me is None and exchange.server.works.settings.secure_mode:
        raise Unauthenticated("Request not signed")
    return me
