"""Where the LDAP server listens, and how many it listens to."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import Counter

import structlog

from kith.base.exchange import Server
from kith.base.limits import address_key
from kith.base.settings import Settings, split_bind
from kith.base.work import Works
from kith.identity.ldap_server.connection import LdapConnection
from kith.identity.ldap_server.encryption import Certificates

__all__ = ["LdapServer"]

MOST_CONNECTIONS = 1000
MOST_PER_ADDRESS = 200
HANDSHAKE_SECONDS = 10.0
MOST_UNREAD = 16 << 10  # of what a client sends before it is answered
FAREWELL_SECONDS = 10.0  # for a client to take the last words
_log = structlog.get_logger()


class LdapServer:
    """`ldap_bind` speaks in clear until StartTLS, `ldaps_bind` is encrypted from the start."""

    def __init__(self, works: Works) -> None:
        self._server = Server(works, routes=(), headers=(), secret_paths=(), max_body=0)
        self._certificates = Certificates(works)
        self._listening: list[asyncio.Server] = []
        self._open: dict[asyncio.Task[None], str] = {}
        self._by_address: Counter[str] = Counter()

    async def start(self, settings: Settings) -> None:
        for bind, name, is_encrypted in (
            (settings.ldap_bind, "ldap_bind", False),
            (settings.ldaps_bind, "ldaps_bind", True),
        ):
            if bind:
                host, port = split_bind(bind, name)
                takes = self._take_encrypted if is_encrypted else self._take
                listening = await asyncio.start_server(
                    takes, host, port, limit=MOST_UNREAD, reuse_port=settings.processes > 1 or None
                )
                self._listening.append(listening)
                _log.info("ldap.listening", address=bind, encrypted=is_encrypted)

    async def stop(self) -> None:
        for one in self._listening:
            one.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._hold(reader, writer, is_encrypted=False)

    async def _take_encrypted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._hold(reader, writer, is_encrypted=True)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_encrypted: bool) -> None:
        """Whoever comes when all places are taken is sent away without a word: LDAP has none before a message."""
        address = address_key(str((writer.get_extra_info("peername") or ("",))[0]))
        task = asyncio.current_task()
        if task is None or len(self._open) >= MOST_CONNECTIONS or self._by_address[address] >= MOST_PER_ADDRESS:
            writer.close()
            return
        self._open[task] = address
        self._by_address[address] += 1
        try:
            await self._talk(reader, writer, is_encrypted=is_encrypted)
        except (ConnectionError, TimeoutError, ssl.SSLError):
            pass  # the client's matter
        except asyncio.CancelledError:
            pass  # the server stops
        except Exception as error:  # noqa: BLE001 - one client's fault is not the others'
            _log.error("ldap.broken", exc_info=error)
        finally:
            del self._open[task]
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
            with contextlib.suppress(Exception):
                writer.close()
            asyncio.get_running_loop().call_later(FAREWELL_SECONDS, writer.transport.abort)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_encrypted: bool) -> None:
        if is_encrypted:
            context = await self._certificates.context()
            if context is None:
                _log.warning("ldap.no_certificate")
                return
            await writer.start_tls(context, ssl_handshake_timeout=HANDSHAKE_SECONDS)
        await LdapConnection(self._server, reader, writer, self._certificates.context).run()
