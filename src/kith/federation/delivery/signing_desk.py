"""Signatures for all deliveries, whichever host they are for, made in one thread."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec

from kith.base import asking
from kith.base.db.flusher import Flusher
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign

__all__ = ["SigningDesk"]

BATCH = 64


class _Order(msgspec.Struct):
    signer: Signer
    request: RequestToSign
    scheme: SigningScheme
    signed: asyncio.Future[dict[str, str]]
    headers: dict[str, str] | Exception = {}


class SigningDesk:
    """What comes while a batch is signed is the next batch."""

    def __init__(self) -> None:
        self._thread = Flusher("signing")
        self._orders: list[_Order] = []
        self._task: asyncio.Task[None] | None = None

    async def sign(self, signer: Signer, request: RequestToSign, scheme: SigningScheme) -> dict[str, str]:
        order = _Order(signer, request, scheme, asyncio.get_running_loop().create_future())
        self._orders.append(order)
        if self._task is None:
            self._task = asking.begin_for_everybody(self._work())
        return await order.signed

    async def close(self) -> None:
        if self._task is not None:
            await self._task
        self._thread.close()

    async def _work(self) -> None:
        try:
            while self._orders:
                batch, self._orders = self._orders[:BATCH], self._orders[BATCH:]
                await self._sign_all(batch)
        finally:
            self._task = None

    async def _sign_all(self, batch: list[_Order]) -> None:
        now = datetime.now(UTC)

        def do() -> None:
            for order in batch:
                try:
                    order.headers = sign(order.signer, order.request, order.scheme, now)
                except Exception as error:  # noqa: BLE001 - told to whoever asked, and to nobody else
                    order.headers = error

        await self._thread.run(do)
        for order in batch:
            if order.signed.done():
                continue  # whoever asked has gone
            if isinstance(order.headers, Exception):
                order.signed.set_exception(order.headers)
            else:
                order.signed.set_result(order.headers)
