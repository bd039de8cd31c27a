"""Who asks for a document: a port. The inbox's room knows, by the signature of the request."""

from __future__ import annotations

from typing import Protocol

from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships

__all__ = ["Signers", "asker_of", "check_asker"]


class Signers(Protocol):
    async def signer(self, exchange: Exchange, *, must_know: bool = False) -> AccountId | None:
        """Whose key a request was signed with; None for one that was not signed.

        Unless they `must_know`, a key that was never seen is not fetched. Where strangers may
        read nothing, a wrong signature is refused, and so is one from a server that is shut out.
        """
        ...


async def asker_of(exchange: Exchange, *, must_know: bool = False) -> AccountId | None:
    """Nobody in particular, unless the request was signed. Where strangers may read nothing, it must be."""
    me = await exchange.find(Signers).signer(exchange, must_know=must_know)  # type: ignore[type-abstract]
    if me is None and exchange.server.works.settings.is_members_only:
        raise Unauthenticated("Request not signed")
    return me


async def check_asker(work: Work, owner: Account, me: AccountId | None) -> None:
    """Where strangers may read nothing, nobody is told anything of somebody who blocks them, or their whole server."""
    if not work.settings.is_members_only or me is None or me == owner.id:
        return
    if me in await relationships.blocked_among(work.db, owner.id, [me]):
        raise NotFound
    asker = await accounts.find(work.db, me)
    if asker is not None and asker.domain and await relationships.blocks_domain(work.db, owner.id, asker.domain):
        raise NotFound
