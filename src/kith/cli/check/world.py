"""The world outside, asked by `kith check`: names, certificates, clocks, and this server as others see it."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, Protocol

import msgspec

from kith import __version__
from kith.base.http import Outgoing, OutgoingError
from kith.base.settings import Settings

__all__ = ["NotAsked", "Page", "RealWorld", "World"]

SECONDS = 5.0


class NotAsked(Exception):  # noqa: N818 - there was no answer, which is no error of ours
    """Nobody could tell; the message says why."""


class Page(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    date: datetime | None

    def json(self) -> Any:
        try:
            return msgspec.json.decode(self.body)
        except msgspec.DecodeError:
            return None


class World(Protocol):
    async def addresses(self, host: str) -> list[str]:
        """None if there is no such host; `NotAsked` if no name server answers."""
        ...

    async def texts(self, name: str) -> list[str]: ...

    async def mail_hosts(self, domain: str) -> list[str]: ...

    async def certificate_end(self, host: str, port: int) -> datetime:
        """Of a certificate that is good; `ssl.SSLCertVerificationError` where it is not."""
        ...

    async def get(self, url: str, accept: str = "application/json") -> Page: ...

    async def close(self) -> None: ...


class RealWorld:
    def __init__(self, settings: Settings, own_host: str) -> None:
        # How others see this server is asked from here, where it may have an address that only this network knows.
        self._client = Outgoing(f"Kith/{__version__} (check)", private_hosts=(*settings.private_hosts, own_host))

    async def addresses(self, host: str) -> list[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            found = [await self._resolve(host, kind) for kind in ("A", "AAAA")]
        return [one for kind in found for one in kind]

    async def texts(self, name: str) -> list[str]:
        return await self._resolve(name, "TXT")

    async def mail_hosts(self, domain: str) -> list[str]:
        return await self._resolve(domain, "MX")

    async def _resolve(self, name: str, kind: str) -> list[str]:
        import dns.asyncresolver  # noqa: PLC0415 - loaded when first used
        import dns.exception  # noqa: PLC0415
        import dns.resolver  # noqa: PLC0415

        try:
            answer = await dns.asyncresolver.resolve(name, kind, lifetime=SECONDS)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, OSError) as error:
            raise NotAsked(f"no name server answers ({type(error).__name__})") from error
        if kind == "TXT":
            return [b"".join(row.strings).decode("utf-8", "replace") for row in answer]
        return [row.exchange.to_text() if kind == "MX" else row.to_text() for row in answer]

    async def certificate_end(self, host: str, port: int) -> datetime:
        try:
            async with asyncio.timeout(SECONDS):
                _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        except ssl.SSLCertVerificationError:
            raise
        except OSError as error:
            raise NotAsked(str(error) or type(error).__name__) from error
        certificate = writer.get_extra_info("peercert")
        writer.close()
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)

    async def get(self, url: str, accept: str = "application/json") -> Page:
        try:
            answer = await self._client.request("GET", url, headers={"Accept": accept}, timeout=SECONDS)
        except OutgoingError as error:
            raise NotAsked(str(error)) from error
        return Page(answer.status, answer.body, _date(answer.headers.get("Date", "")))

    async def close(self) -> None:
        await self._client.close()


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
