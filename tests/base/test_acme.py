"""Certificates of the server's own: ordered, renewed under way, kept when something fails."""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from cryptography import x509

from kith.base.acme.folder import TlsFolder
from kith.base.acme.keeper import CertificateKeeper
from kith.base.acme.plain_http import PlainHttp
from tests.base.pebble import pebble
from tests.social.members import join
from tests.social.streams import Events
from tests.town import Town, build_town
from tests.town.ports import ReservedPort


async def _until(claim: Callable[[], Awaitable[bool]], town: Town) -> None:
    try:
        async with asyncio.timeout(90):
            while not await claim():
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(town.log()) from None


class Connection:
    """One that stays open, with the certificate it began with."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        self.serial = x509.load_der_x509_certificate(der).serial_number

    async def get(self, path: str) -> bytes:
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        await self._reader.readexactly(int(length.partition(b":")[2]))
        return head

    def close(self) -> None:
        self._writer.close()


async def _connect(port: int, context: ssl.SSLContext) -> Connection:
    return Connection(*await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost"))


async def _serial(port: int, context: ssl.SSLContext) -> int:
    """Of the certificate that somebody new is shown; 0 where there is none."""
    try:
        connection = await _connect(port, context)
    except OSError:
        return 0
    connection.close()
    return connection.serial


async def test_a_server_gets_a_certificate_renews_it_under_way_and_keeps_it_when_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ReservedPort() as plain, ReservedPort() as tls:
        async with pebble(tmp_path / "pebble", plain.number) as authority:
            monkeypatch.setenv("SSL_CERT_FILE", str(authority.authority))
            settings: dict[str, Any] = {
                "acme": "on",
                "acme_directory": authority.directory,
                "acme_email": "ops@example.org",
                "acme_bind": f"127.0.0.1:{plain.number}",
                "tls_bind": f"127.0.0.1:{tls.number}",
                "base_url": f"https://localhost:{tls.number}",
                "private_hosts": "127.0.0.1",
            }
            async with build_town("sqlite", tmp_path / "town", **settings) as town:
                trust = ssl.create_default_context(cadata=authority.root)
                folder = TlsFolder(town.folder)

                # ordered
                await _until(lambda: _is_served(tls.number, trust), town)
                first = await _serial(tls.number, trust)
                files = [path for path in folder.path.rglob("*") if path.is_file()]
                assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
                async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{plain.number}") as http:
                    moved = await http.get("/@ada?x=1", headers={"Host": "localhost"})
                    posted = await http.post("/inbox", headers={"Host": "elsewhere.example"})
                    unknown = await http.get("/.well-known/acme-challenge/..%2faccount.key")
                assert (moved.status_code, moved.headers["location"]) == (
                    301,
                    f"https://localhost:{tls.number}/@ada?x=1",
                )
                assert (posted.status_code, posted.headers["location"]) == (
                    308,
                    f"https://localhost:{tls.number}/inbox",
                )
                assert unknown.status_code == 404

                # renewed, while a connection and a stream are open
                ada = await join(town)
                connection = await _connect(tls.number, trust)
                assert b"strict-transport-security" in (await connection.get("/health")).lower()
                address = f"https://localhost:{tls.number}"
                headers = {"Authorization": f"Bearer {ada.token}"}
                async with (
                    httpx.AsyncClient(base_url=address, verify=trust, timeout=60) as http,
                    http.stream("GET", "/api/v1/streaming/user", headers=headers) as response,
                ):
                    events = Events(response)
                    assert await events.line() == ":)"
                    await town.kith("certificate", "--renew")
                    await _until(lambda: _is_served(tls.number, trust, other_than=first), town)
                    said = await ada.post("/api/v1/statuses", json={"status": "still here"})
                    await events.until("update", said["id"])
                assert b" 200 " in await connection.get("/health")
                assert connection.serial == first
                connection.close()
                second = await _serial(tls.number, trust)

                # refused: the old one stays, and the operator is told
                await authority.stop()
                await town.kith("certificate", "--renew")
                await _until(lambda: _has_failed(folder), town)
                assert await _serial(tls.number, trust) == second
                told = msgspec.json.decode(await town.kith("certificate", "--json"))
                assert told["last_attempt"]["failures"] == 1
                assert "cannot be reached" in told["last_attempt"]["error"]

                # killed in the midst of it: the old one is served at once, and a new one comes
                await authority.start(quick=False)
                also = ssl.create_default_context(cadata=authority.root)
                also.load_verify_locations(cadata=trust_of(trust))
                await town.kith("certificate", "--renew")
                await _until(lambda: _is_challenged(folder), town)
                await town.kill()
                assert folder.is_wished_for
                await authority.stop()
                await authority.start()
                also.load_verify_locations(cadata=authority.root)
                await town.start()
                assert await _serial(tls.number, also) != 0
                await _until(lambda: _is_served(tls.number, also, other_than=second), town)
                assert not folder.is_wished_for


def test_nobody_is_sent_to_another_host(tmp_path: Path) -> None:
    plain = PlainHttp(TlsFolder(tmp_path), "https://a.example", ["a.example"], lambda: True)
    scope = {"path": "@b.example/", "raw_path": b"@b.example/", "query_string": b"", "method": "GET", "headers": []}
    assert plain._answer(scope)[1] == [(b"location", b"https://a.example/@b.example/")]


async def test_the_key_that_a_killed_process_was_writing_does_not_stay(tmp_path: Path) -> None:
    folder = TlsFolder(tmp_path)
    folder.make()
    before = folder.account_key().private_numbers()
    drafts = [folder.path / name for name in (".account.key.0a1b2c3d", ".certificate.pem.0a1b2c3d")]
    for path in drafts:
        path.write_bytes(b"a key")
    keeper = CertificateKeeper(TlsFolder(tmp_path), ["a.example"], Refusing(), "https://acme.example/directory")

    with folder.alone():  # another process writes one just now
        await keeper.start()
        await keeper.stop()
        assert all(path.exists() for path in drafts)
    await keeper.start()
    await keeper.stop()

    assert not any(path.exists() for path in drafts)
    assert folder.account_key().private_numbers() == before


class Refusing:
    async def request(self, *_: Any, **__: Any) -> Any:
        raise OSError


async def test_nothing_is_ordered_again_and_again_where_it_cannot_be_kept(tmp_path: Path) -> None:
    class FullDisk:
        asked = 0

        async def request(self, *_: Any, **__: Any) -> Any:
            self.asked += 1
            raise OSError(errno.ENOSPC, "No space left on device")

    ask = FullDisk()
    keeper = CertificateKeeper(TlsFolder(tmp_path), ["a.example"], ask, "https://acme.example/directory")
    TlsFolder(tmp_path).wish()
    with pytest.raises(OSError, match="No space"):
        await keeper.look()
    await keeper.look()
    assert ask.asked == 1


async def _is_served(port: int, trust: ssl.SSLContext, other_than: int = 0) -> bool:
    return await _serial(port, trust) not in (0, other_than)


async def _has_failed(folder: TlsFolder) -> bool:
    return bool(folder.last_attempt.error)


async def _is_challenged(folder: TlsFolder) -> bool:
    return any((folder.path / "challenges").iterdir())


def trust_of(context: ssl.SSLContext) -> bytes:
    return b"".join(context.get_ca_certs(binary_form=True))
