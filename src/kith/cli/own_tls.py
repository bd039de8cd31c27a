"""TLS of our own: the server on port 443 with a certificate that it keeps, and what is said on port 80."""

from __future__ import annotations

import asyncio
import errno
import socket
from urllib.parse import urlsplit

from kith.app import House
from kith.base import asking, log
from kith.base.acme.folder import TlsFolder
from kith.base.acme.keeper import CertificateKeeper
from kith.base.acme.plain_http import PlainHttp
from kith.base.http import Outgoing
from kith.base.server import HttpServer, limits_from, listen
from kith.base.settings import BadSettings, Settings, split_bind

__all__ = ["OwnTls"]

STOP_SECONDS = 8
_NO_IPV6 = {errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL}


class OwnTls:
    def __init__(self, house: House, access_log: log.AccessLog) -> None:
        self._house = house
        self._access_log = access_log
        self._servers: list[HttpServer] = []
        self._opening: asyncio.Task[None] | None = None
        self._keeper: CertificateKeeper | None = None
        self._patience = float(STOP_SECONDS)

    async def start(self, settings: Settings) -> None:
        folder, names = TlsFolder(settings.data), certificate_names(settings)
        self._keeper = keeper = CertificateKeeper(
            folder, names, self._house.find(Outgoing), settings.acme_directory, settings.acme_email
        )
        plain = PlainHttp(folder, settings.base_url, names, keeper.is_there.is_set)
        limits = limits_from(settings)
        on_80 = _listen(settings.acme_bind, "acme_bind", settings)
        on_443 = _listen(settings.tls_bind, "tls_bind", settings)
        self._servers.append(HttpServer(plain, on_80, limits))
        await self._servers[0].start()
        app = self._house.asgi(self._access_log)
        await keeper.start()
        encrypted = HttpServer(app, on_443, limits, settings.trusted_proxies, tls=keeper.context)
        self._servers.append(encrypted)
        self._opening = asking.begin_for_everybody(_open(keeper, encrypted))

    async def leave(self, seconds: float) -> None:
        self._patience = seconds  # others wait for the next process
        await asyncio.gather(*(server.leave(seconds) for server in self._servers))

    async def stop(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
        if self._keeper is not None:
            await self._keeper.stop()
        await asyncio.gather(*(server.stop(self._patience) for server in self._servers))


async def _open(keeper: CertificateKeeper, server: HttpServer) -> None:
    """Before there is a certificate, nobody is taken in: a browser would only be frightened."""
    await keeper.is_there.wait()
    await server.start()


def certificate_names(settings: Settings) -> list[str]:
    host = (urlsplit(settings.base_url).hostname or "").lower()
    return list(dict.fromkeys([host, *(name.lower() for name in settings.acme_names)]))


def _listen(bind: str, name: str, settings: Settings) -> socket.socket:
    host, port = split_bind(bind, name)
    shared = settings.processes > 1
    try:
        try:
            return listen(host, port, shared=shared)
        except OSError as error:
            if host != "::" or error.errno not in _NO_IPV6:
                raise
            return listen("0.0.0.0", port, shared=shared)  # noqa: S104 - every interface, as was asked for
    except OSError as error:
        words = f"cannot listen on {bind}: {error.strerror}; set KITH_{name.upper()}"
        if error.errno == errno.EACCES:
            words += ", or let Kith have the port (CAP_NET_BIND_SERVICE; deploy/systemd/ports.conf)"
        raise BadSettings(words) from error
