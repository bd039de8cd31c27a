"""The gateway with TLS: started beside the server or by itself, where the operator has said on which address."""

from __future__ import annotations

from kith.app import House
from kith.base import log
from kith.base.server import HttpServer, limits_from, listen
from kith.base.settings import BadSettings, Settings, split_bind
from kith.identity.gateway.certificates import GatewayCertificates

STOP_SECONDS = 8


class EncryptedGateway:
    """Answers for the hosts of gateways that have a certificate, and for nothing else."""

    def __init__(self, house: House, access_log: log.AccessLog) -> None:
        self._house = house
        self._access_log = access_log
        self._certificates = GatewayCertificates(house.works)
        self._server: HttpServer | None = None
        self._patience = float(STOP_SECONDS)

    async def start(self, settings: Settings) -> None:
        address = split_bind(settings.gateway_tls_bind, "gateway_tls_bind")
        try:
            listener = listen(*address, shared=settings.processes > 1)
        except OSError as error:
            words = f"cannot listen on {settings.gateway_tls_bind}: {error.strerror}; set KITH_GATEWAY_TLS_BIND"
            raise BadSettings(words) from error
        await self._certificates.start()
        app, limits = self._house.gateway(self._access_log), limits_from(settings)
        self._server = HttpServer(app, listener, limits, settings.trusted_proxies, tls=self._certificates.context)
        await self._server.start()

    async def leave(self, seconds: float) -> None:
        self._patience = seconds  # others wait for the next process
        if self._server is not None:
            await self._server.leave(seconds)

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(self._patience)
        await self._certificates.stop()
