"""A WebSocket as a route's handler uses it."""

from __future__ import annotations

from typing import Annotated

from kith.base.exchange import Exchange
from kith.base.routing import Provided

__all__ = ["Socket", "TheSocket"]


class Socket:
    """Always receive until None comes: that is how one learns that the client has gone."""

    __slots__ = ("_exchange",)

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def subprotocols(self) -> list[str]:
        offered: list[str] = self._exchange.scope["subprotocols"]
        return offered

    async def accept(self, subprotocol: str = "", *, most: int | None = None) -> None:
        """`most` is how many bytes a message may have."""
        await self._exchange.receive()  # the word that somebody wants to connect
        await self._exchange.accept(subprotocol, most=most)

    async def receive(self) -> str | bytes | None:
        """The next message, None when there will be no more."""
        message = await self._exchange.receive()
        if message["type"] != "websocket.receive":
            return None
        text: str | None = message.get("text")
        data: bytes = message.get("bytes") or b""
        return text if text is not None else data

    async def send(self, text: str) -> None:
        await self._exchange.send({"type": "websocket.send", "text": text})

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self._exchange.send({"type": "websocket.close", "code": code, "reason": reason})


TheSocket = Annotated[Socket, Provided(Socket)]
