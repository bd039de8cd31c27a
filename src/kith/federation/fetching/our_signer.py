"""Requests in the name of the server itself, which is who asks unless somebody in particular has to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from kith.base.work import Works
from kith.federation.fetching.ports import SignatureScheme
from kith.federation.keys import service as keys
from kith.federation.signatures.signing import RequestToSign, SigningScheme, sign
from kith.social.ids import AccountId

__all__ = ["OurSigner"]


class OurSigner:
    """Signs as one of our accounts, or as the server (None)."""

    def __init__(self, works: Works, owner: AccountId | None = None) -> None:
        self._works = works
        self._owner = owner

    async def sign(self, method: str, url: str, scheme: SignatureScheme) -> Mapping[str, str]:
        work = self._works.open()
        try:
            signer = await keys.signer(work, self._owner)
        finally:
            await work.rollback()
        request = RequestToSign(method=method, url=url)
        return await asyncio.to_thread(sign, signer, request, SigningScheme(scheme), datetime.now(UTC))
