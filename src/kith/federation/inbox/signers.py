"""Who asks for a document, by the signature of the request."""

from __future__ import annotations

from kith.base.errors import Forbidden, Unavailable
from kith.base.exchange import Exchange
from kith.federation.inbox import verification
from kith.federation.signatures.refusals import SignatureRefused
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId

__all__ = ["RequestSigners"]


class RequestSigners:
    """Where strangers may read, a signature opens doors and closes none: who cannot be believed is a stranger."""

    async def signer(self, exchange: Exchange, *, must_know: bool = False) -> AccountId | None:
        if not exchange.header(b"signature"):
            return None
        is_closed = exchange.server.works.settings.is_members_only
        try:
            return await _signer(exchange, may_fetch=is_closed or must_know)
        except (SignatureRefused, Forbidden, Unavailable):
            if is_closed:
                raise
            return None


async def _signer(exchange: Exchange, *, may_fetch: bool) -> AccountId:
    found = await verification.signer_of(exchange, may_fetch=may_fetch)
    account = await accounts.find(exchange.work.db, found.account_id)
    if account is None or account.is_gone:
        raise Forbidden
    return found.account_id
