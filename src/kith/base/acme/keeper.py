"""Keeps the certificate: looks whether it is due, orders a new one, and gives it to whoever connects from then on.

Connections that are open go on: TLS looks at a certificate when it begins, and never again.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from datetime import UTC, datetime

import structlog
from cryptography.hazmat.primitives.asymmetric import ec

from kith.base import asking
from kith.base.acme.client import Acme, AcmeError, Ask
from kith.base.acme.folder import Certificate, LastAttempt, TlsFolder, request_for
from kith.base.metrics import CERTIFICATE_END
from kith.base.tls import server_context

__all__ = ["CertificateKeeper"]

LOOK_SECONDS = 2.0
FIRST_PAUSE = 300.0  # after an attempt that failed; twice that after the next
LONGEST_PAUSE = 12 * 3600.0

_log = structlog.get_logger()


class CertificateKeeper:
    """`context` is for a server; whoever connects gets the newest certificate there is."""

    def __init__(self, folder: TlsFolder, names: list[str], ask: Ask, directory: str, contact: str = "") -> None:
        self._folder = folder
        self._names = names
        self._ask = ask
        self._directory = directory
        self._contact = contact
        self._version = (0, 0)
        self._stuck = 0  # attempts whose end could not be written down, since the last one that could
        self._not_before = 0.0
        self._current: ssl.SSLContext | None = None
        self._looking: asyncio.Task[None] | None = None
        self.is_there = asyncio.Event()  # set with the first certificate
        self.context = _server_context()
        self.context.sni_callback = self._choose

    async def start(self) -> None:
        self._folder.make()
        self._folder.remove_drafts()
        self._take()
        self._looking = asking.begin_for_everybody(self._look_on())

    async def stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    def _choose(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _outer: ssl.SSLContext) -> None:
        if self._current is not None:
            connection.context = self._current

    def _take(self) -> None:
        """What is in the folder now, whichever process has put it there."""
        version = self._folder.version
        certificate = self._folder.find_certificate()
        if version == self._version or certificate is None:
            return
        context = _server_context()
        try:
            context.load_cert_chain(self._folder.pair)
        except (ssl.SSLError, OSError) as error:
            _log.error("certificate.unusable", path=str(self._folder.pair), cause=str(error))
            return
        self._current, self._version = context, version
        CERTIFICATE_END.set(certificate.ends_at.timestamp())
        self.is_there.set()
        _log.info("certificate.in_use", names=certificate.names, ends_at=certificate.ends_at)

    async def _look_on(self) -> None:
        while True:
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - a full disk, say: the server goes on with what it has
                _log.error("certificate.not_kept", exc_info=error)
                await asyncio.sleep(60)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        if self._folder.version != self._version:
            self._take()
        if not self._is_due():
            return
        with self._folder.alone() as alone:
            if alone and self._is_due():
                # On a full disk nothing can be kept, and a new order each minute would use up what the server grants.
                self._not_before = time.monotonic() + _pause_after(self._stuck)
                self._stuck += 1
                await self._order()
                self._stuck, self._not_before = 0, 0.0

    def _is_due(self) -> bool:
        if time.monotonic() < self._not_before:
            return False
        if self._folder.is_wished_for:
            return True
        certificate = self._folder.find_certificate()
        covered = certificate is not None and set(self._names) <= set(certificate.names)
        if certificate is not None and covered and not certificate.is_due(datetime.now(UTC)):
            return False
        left = self._folder.last_attempt.next_at - time.time()
        return left <= 0 or left > LONGEST_PAUSE  # written down by a clock that was ahead

    async def _order(self) -> None:
        folder, before = self._folder, self._folder.last_attempt
        key = ec.generate_private_key(ec.SECP256R1())
        acme = Acme(self._ask, self._directory, folder.account_key(), self._contact)
        _log.info("certificate.ordered", names=self._names, directory=self._directory)
        try:
            chain = await acme.order(self._names, request_for(self._names, key), self._show)
            certificate = folder.keep(key, chain)
        except (AcmeError, ValueError) as error:
            pause = _pause_after(before.failures)
            folder.write_down(LastAttempt(before.failures + 1, time.time() + pause, str(error)[:500]))
            _log.error("certificate.refused", names=self._names, cause=str(error)[:500], again_in_seconds=pause)
        else:
            folder.write_down(LastAttempt())
            self._tell(certificate)
        finally:
            with contextlib.suppress(OSError):
                folder.forget_challenges()
        folder.wish_is_done()

    def _tell(self, certificate: Certificate) -> None:
        _log.info("certificate.made", names=certificate.names, ends_at=certificate.ends_at)
        self._take()

    async def _show(self, token: str, answer: str) -> None:
        self._folder.show(token, answer)


def _pause_after(failures: int) -> float:
    return min(FIRST_PAUSE * float(1 << min(failures, 20)), LONGEST_PAUSE)


def _server_context() -> ssl.SSLContext:
    context = server_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
