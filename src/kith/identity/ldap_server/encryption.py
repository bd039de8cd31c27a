"""TLS for the LDAP server, with the certificates of its providers."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Mapping

from kith.base.work import Work, Works
from kith.identity.crypto import keypairs
from kith.identity.crypto.server_tls import server_context
from kith.identity.ldap_server import store

__all__ = ["Certificates"]

MOST_KEPT = 64


class Certificates:
    """What was loaded is kept, but what to load is read for every connection: a renewed certificate counts at once."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._loaded: dict[bytes, ssl.SSLContext] = {}

    async def context(self) -> ssl.SSLContext | None:
        """The first provider's, and for a client that names a server, that one's. None where no provider has any."""
        work = self._works.open()
        try:
            by_name: dict[str, ssl.SSLContext] = {}
            for provider in await store.all_providers(work.db):
                loaded = await self._load(work, provider.certificate) if provider.certificate is not None else None
                if loaded is not None:
                    by_name.setdefault(provider.tls_server_name.lower(), loaded)
        finally:
            await work.rollback()
        first = next(iter(by_name.values()), None)
        return _choosing(first, by_name) if first is not None else None

    async def _load(self, work: Work, kp_uuid: str) -> ssl.SSLContext | None:
        pair = await keypairs.find(work, kp_uuid)
        if pair is None or not pair.private_key_available:
            return None
        secret = keypairs.open_key(work, pair.key_data)
        key = hashlib.sha256(f"{pair.certificate_data}\n{secret}".encode()).digest()
        if key not in self._loaded:
            if len(self._loaded) >= MOST_KEPT:
                self._loaded.clear()
            self._loaded[key] = server_context(pair.certificate_data, secret)
        return self._loaded[key]


def _choosing(first: ssl.SSLContext, by_name: Mapping[str, ssl.SSLContext]) -> ssl.SSLContext:
    def choose(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = by_name.get((name or "").lower(), first)

    first.sni_callback = choose
    return first
