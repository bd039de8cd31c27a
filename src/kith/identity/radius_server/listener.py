"""Where the RADIUS server listens: each packet is a task of its own, and who asks twice gets the same answer."""

from __future__ import annotations

import asyncio
import hashlib

import structlog

from kith.base.caches import ForAWhile
from kith.base.counted_log import log_counted
from kith.base.server.proxies import plain
from kith.base.settings import Settings, split_bind
from kith.base.work import Works
from kith.identity.radius_server.packets import RadiusError, read_packet
from kith.identity.radius_server.service import RadiusService

__all__ = ["RadiusServer"]

MOST_AT_ONCE = 200
ANSWERED_SECONDS = 15.0  # in which a device that has not heard the answer asks again
MOST_ANSWERED = 10_000
_log = structlog.get_logger()


class RadiusServer(asyncio.DatagramProtocol):
    def __init__(self, works: Works) -> None:
        self._service = RadiusService(works)
        self._transport: asyncio.DatagramTransport | None = None
        self._doing: dict[bytes, asyncio.Task[None]] = {}
        self._answered: ForAWhile[bytes] = ForAWhile("radius_answers", seconds=ANSWERED_SECONDS, most=MOST_ANSWERED)

    async def start(self, settings: Settings) -> None:
        host, port = split_bind(settings.radius_bind, "radius_bind")
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, (host, port), reuse_port=settings.processes > 1 or None)
        _log.info("radius.listening", address=settings.radius_bind)

    async def leave(self, _seconds: float) -> None:
        """Devices ask again."""

    async def stop(self) -> None:
        if self._transport is not None:
            self._transport.close()
        for task in list(self._doing.values()):
            task.cancel()
        await asyncio.gather(*self._doing.values(), return_exceptions=True)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Whatever is not a packet, or comes when too much is under way, is left alone: devices ask again."""
        key = hashlib.sha256(f"{addr[0]} {addr[1]} ".encode() + data).digest()
        before = self._answered.get(key)
        if before is not None:
            self._send(before, addr)
        elif key not in self._doing and len(self._doing) < MOST_AT_ONCE:
            task = asyncio.get_running_loop().create_task(self._answer(key, data, addr))
            self._doing[key] = task
            task.add_done_callback(lambda _: self._doing.pop(key, None))

    async def _answer(self, key: bytes, data: bytes, addr: tuple[str, int]) -> None:
        try:
            answer = await self._service.answer(read_packet(data), plain(addr[0]))
        except RadiusError as error:
            log_counted("info", "radius.ignored", str(error), address=addr[0], reason=str(error))
            return
        except Exception as error:  # noqa: BLE001 - one packet's fault is not the others'
            log_counted("error", "radius.broken", error=error)
            return
        self._answered.put(key, answer)
        self._send(answer, addr)

    def _send(self, data: bytes, addr: tuple[str, int]) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(data, addr)
