"""The certificates of gateways: each is served for its host, as whoever connects names it.

Read again every second, so that a new certificate counts soon and connections never wait for the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any
from urllib.parse import urlsplit

import structlog
from sqlalchemy import select

from kith.base import asking, tls
from kith.base.db import query
from kith.base.work import Work, Works
from kith.identity.crypto import keypairs
from kith.identity.crypto.server_tls import server_context
from kith.identity.crypto.tables import keypairs as rows
from kith.identity.gateway.gateways import FRESH_SECONDS
from kith.identity.gateway.paths import in_domain
from kith.identity.providers.kinds.applicationgateway import gateways

__all__ = ["GatewayCertificates"]

_log = structlog.get_logger()
_all = query(
    select(
        gateways.c.external_host,
        gateways.c.mode,
        gateways.c.cookie_domain,
        rows.c.certificate_data,
        rows.c.key_data,
    )
    .join(rows, rows.c.kp_uuid == gateways.c.certificate)
    .where(rows.c.private_key_available)
    .order_by(gateways.c.id),
    tuple,
)


class GatewayCertificates:
    def __init__(self, works: Works) -> None:
        self._works = works
        self._loaded: dict[tuple[Any, ...], ssl.SSLContext | None] = {}  # by certificate and key
        self._by_host: dict[str, ssl.SSLContext] = {}
        self._by_domain: dict[str, ssl.SSLContext] = {}
        self._reading: asyncio.Task[None] | None = None
        self.context = tls.server_context()
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.sni_callback = self._choose

    async def start(self) -> None:
        await self._read()
        self._reading = asking.begin_for_everybody(self._go_on_reading())

    async def stop(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading

    def find(self, host: str) -> ssl.SSLContext | None:
        """The one for this host; that of a whole domain for the hosts below it."""
        found = self._by_host.get(host)
        if found is not None:
            return found
        below = [domain for domain in self._by_domain if in_domain(host, domain)]
        return self._by_domain[max(below, key=len)] if below else None

    def _choose(
        self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _context: ssl.SSLContext
    ) -> int | None:
        found = self.find((name or "").rstrip(".").lower())
        if found is None:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = found
        return None

    async def _go_on_reading(self) -> None:
        while True:
            await asyncio.sleep(FRESH_SECONDS)
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 - the database is away: those that are loaded still count
                _log.warning("gateway.certificates_unread", error=str(error)[:300])

    async def _read(self) -> None:
        loaded: dict[tuple[Any, ...], ssl.SSLContext | None] = {}
        by_host: dict[str, ssl.SSLContext] = {}
        by_domain: dict[str, ssl.SSLContext] = {}
        async with self._works.begin() as work:
            for external_host, mode, domain, *pair in await work.db.all(_all):
                key = tuple(pair)
                loaded[key] = self._loaded[key] if key in self._loaded else _load(work, external_host, *key)
                context = loaded[key]
                if context is None:
                    continue
                by_host.setdefault((urlsplit(external_host).hostname or "").lower(), context)
                if mode == "forward_domain" and domain:
                    by_domain.setdefault(domain.lstrip(".").lower(), context)
        self._loaded, self._by_host, self._by_domain = loaded, by_host, by_domain


def _load(work: Work, external_host: str, certificate: str, sealed_key: str) -> ssl.SSLContext | None:
    try:
        context = server_context(certificate, keypairs.open_key(work, sealed_key))
    except ssl.SSLError as error:
        _log.warning("gateway.bad_certificate", host=external_host, error=str(error)[:300])
        return None
    context.set_alpn_protocols(["http/1.1"])
    return context
