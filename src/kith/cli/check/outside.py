"""How the world reaches this server, and how it reaches the world."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from obstore.exceptions import BaseError

from kith.base.blobs import blobs
from kith.base.mail import MailError, mailer
from kith.base.settings import Settings
from kith.cli.check.files import media_folder
from kith.cli.check.findings import Finding, cause, ok, problem, warning

MAIL_SECONDS = 3
MEDIA_SECONDS = 10


def address(settings: Settings) -> Iterator[Finding]:
    url = urlsplit(settings.base_url)
    if url.scheme != "https" and not _is_here(url.hostname or ""):
        yield warning(
            "address",
            f"{settings.base_url} does not use https: passwords are sent unencrypted and nobody can federate",
            "put a proxy with a certificate in front of Kith and set KITH_BASE_URL=https://...",
        )
    else:
        yield ok("address", f"the public address of this server is {settings.base_url}")
    yield from _listening(settings)
    yield _source(settings)


def _source(settings: Settings) -> Finding:
    if settings.source_url:
        return ok("source", f"whoever uses this server is offered its source at {settings.source_url}")
    return warning(
        "source",
        "nobody who uses this server is told where its source is, which the licence (AGPL-3.0) asks for",
        "set KITH_SOURCE_URL to the page of the version that runs here",
    )


def _listening(settings: Settings) -> Iterator[Finding]:
    """Whether the public address and the one listened on can belong together."""
    url = urlsplit(settings.base_url)
    host, port = settings.address
    public_port = url.port or (443 if url.scheme == "https" else 80)
    if not _is_here(url.hostname or ""):
        if _is_here(host) and not settings.trusted_proxies and not settings.acme:
            yield warning(
                "address",
                f"all requests seem to come from the proxy between {url.netloc} and {settings.bind}",
                f"set KITH_TRUSTED_PROXIES={host}",
            )
    elif not _is_here(host):
        yield warning(
            "address",
            f"other machines can connect to {settings.bind}, but all links point to {settings.base_url}",
            "set KITH_BASE_URL to the public address, or KITH_BIND to 127.0.0.1",
        )
    elif url.scheme == "http" and public_port != port:
        yield warning(
            "address",
            f"KITH_BASE_URL says port {public_port}, but the server listens on {settings.bind}",
            "set both to the same port, unless there is a proxy in between",
        )


def _is_here(host: str) -> bool:
    """Whether only this machine can mean itself by `host`."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def own_certificate(settings: Settings) -> Iterator[Finding]:
    """What the server got by itself, and why it could not get a new one."""
    if not settings.acme:
        return
    from kith.base.acme.folder import TlsFolder  # noqa: PLC0415 - loaded where it is wanted

    folder = TlsFolder(settings.data)
    certificate, last = folder.find_certificate(), folder.last_attempt
    if last.error:
        how = problem if certificate is None or certificate.ends_at < datetime.now(UTC) else warning
        mend = "see that the port 80 of every name leads here, then `kith certificate --renew`"
        yield how("tls", f"no new certificate was given ({last.failures} attempts): {last.error}", mend)
    if certificate is not None:
        yield ok(
            "tls", f"the certificate for {', '.join(certificate.names)} lasts until {certificate.ends_at:%Y-%m-%d}"
        )


async def reached(settings: Settings) -> AsyncIterator[Finding]:
    """As others see this server; one that only this machine can reach has no others."""
    host = urlsplit(settings.base_url).hostname or ""
    if _is_here(host):
        yield ok("reach", f"nobody outside was asked: {settings.base_url} means this machine only")
        return
    from kith.cli.check.reach import ask_outside  # noqa: PLC0415 - loaded where it is wanted
    from kith.cli.check.world import RealWorld  # noqa: PLC0415

    world = RealWorld(settings, host)
    try:
        for finding in await ask_outside(settings, world):
            yield finding
    finally:
        await world.close()


async def mail(settings: Settings) -> AsyncIterator[Finding]:
    try:
        way = mailer(settings.smtp or None, settings.data / "mail", settings.sender)
    except (MailError, ValueError) as error:
        yield problem("mail", cause(error), "set KITH_SMTP=smtp://user:password@host:587 and KITH_MAIL_FROM")
        return
    if not settings.smtp:
        yield warning(
            "mail",
            f"no mail is sent; it is written to {settings.data / 'mail'}",
            "set KITH_SMTP=smtp://user:password@host:587",
        )
        return
    host, port = way.host, way.port  # type: ignore[attr-defined] # every way but the folder's has them
    try:
        async with asyncio.timeout(MAIL_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
    except OSError as error:
        yield problem(
            "mail",
            f"the mail server at {host}:{port} does not answer ({cause(error)})",
            "check KITH_SMTP and the firewall",
        )
    else:
        yield ok("mail", f"the mail server at {host}:{port} answers")
    if settings.mail_from:
        yield ok("mail", f"mail is sent from {settings.mail_from}")
    else:
        yield warning(
            "mail",
            f"mail is sent from {settings.sender}, which is only a guess",
            "set KITH_MAIL_FROM to a real address",
        )


async def media(settings: Settings) -> Finding:
    if not settings.media:
        return media_folder(settings)
    try:
        place = blobs(
            settings.media,
            settings.data / "media",
            access_key=settings.media_access_key,
            secret_key=settings.media_secret_key,
        )
        async with asyncio.timeout(MEDIA_SECONDS):
            async for _ in place.list():
                break
    except (BaseError, OSError, ValueError) as error:
        return problem(
            "media",
            f"the bucket for files cannot be used: {cause(error)}",
            "check KITH_MEDIA, KITH_MEDIA_ACCESS_KEY and KITH_MEDIA_SECRET_KEY",
        )
    return ok("media", "the bucket for files can be used")
