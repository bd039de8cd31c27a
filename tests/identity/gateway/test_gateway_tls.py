"""The gateway with TLS: each host has its own certificate, and what is not a host of ours has none."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import socket
import ssl
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.identity.gateway.gateways import Gateway, make_gateway
from tests.identity.gateway.upstream_app import UpstreamApp
from tests.identity.records import API, new_name, owner_of
from tests.town import Person, Town, build_town
from tests.town.ports import ReservedPort
from tests.town.town import Engine


class TlsTown:
    def __init__(self, town: Town, port: int, owner: Person) -> None:
        self.town = town
        self.port = port
        self.owner = owner

    async def pair(self, host: str) -> dict[str, Any]:
        order = {"common_name": new_name("pair"), "subject_alt_name": host, "validity_days": 30}
        made = await self.owner.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)
        assert made.status_code == 201, made.text
        record: dict[str, Any] = made.json()
        return record

    async def certificate(self, pair: dict[str, Any]) -> str:
        told = await self.owner.get(f"{API}/crypto/certificatekeypairs/{pair['pk']}/view_certificate/")
        return str(told.json()["data"])

    async def gateway(self, app: UpstreamApp, **fields: Any) -> tuple[Gateway, ssl.SSLContext]:
        """One that is open to everybody, and whoever believes its certificate and no other."""
        host = f"{new_name('tls')}.localhost"
        pair = await self.pair(host)
        given = {"external_host": f"https://{host}:{self.port}", "internal_host": app.url, "skip_path_regex": "."}
        made = await make_gateway(self.town, self.owner, **{"certificate": pair["pk"]} | given | fields)
        trusted = ssl.create_default_context(cadata=await self.certificate(pair))
        async with asyncio.timeout(30):
            while await self.shown(made.host.partition(":")[0]) is None:
                await asyncio.sleep(0.1)
        return made, trusted

    async def shown(self, host: str | None) -> bytes | None:
        """The certificate that whoever names this host is shown; None if they are refused."""
        blind = ssl.create_default_context()
        blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
        try:
            _, writer = await asyncio.open_connection(
                "127.0.0.1", self.port, ssl=blind, server_hostname=host or "", ssl_handshake_timeout=20
            )
        except (ssl.SSLError, ConnectionError):
            return None
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return bytes(found)

    async def ask(self, gateway: Gateway, trusted: ssl.SSLContext, path: str, **more: Any) -> httpx.Response:
        host = gateway.host.partition(":")[0]
        async with httpx.AsyncClient(verify=trusted, timeout=60) as http:
            return await http.request(
                more.pop("method", "GET"),
                f"https://127.0.0.1:{self.port}{path}",
                headers={"Host": gateway.host, **more.pop("headers", {})},
                extensions={"sni_hostname": host},
                **more,
            )


@pytest.fixture(scope="module")
async def tls(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TlsTown]:
    with ReservedPort() as port:
        bind = f"127.0.0.1:{port.number}"
        folder = tmp_path_factory.mktemp("tls")
        async with build_town(engine, folder, gateway="on", gateway_tls_bind=bind, private_hosts="") as town:
            yield TlsTown(town, port.number, await owner_of(town))


async def test_a_gateway_serves_its_certificate_and_passes_on(tls: TlsTown, app: UpstreamApp) -> None:
    gateway, trusted = await tls.gateway(app)
    body = os.urandom(3 * 1024 * 1024)
    answer = await tls.ask(gateway, trusted, "/x?y=1", method="POST", content=body)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["target"], told["size"], told["sha256"]) == ("/x?y=1", len(body), hashlib.sha256(body).hexdigest())
    assert dict(told["headers"])["x-forwarded-proto"] == "https"
    closed = await tls.gateway(app, skip_path_regex="")
    asked = await tls.ask(*closed, "/x")
    assert asked.status_code == 302
    assert asked.headers["location"].startswith(f"{closed[0].url}/outpost.kith/start")


async def test_sockets_go_through(tls: TlsTown, app: UpstreamApp) -> None:
    gateway, trusted = await tls.gateway(app)
    raw = socket.create_connection(("127.0.0.1", tls.port))
    host = gateway.host.partition(":")[0]
    async with connect(
        f"wss://{gateway.host}/ws", sock=raw, ssl=trusted, server_hostname=host, proxy=None, close_timeout=1
    ) as ws:
        assert await ws.recv() == "nobody"


async def test_hosts_without_a_certificate_are_refused(tls: TlsTown, app: UpstreamApp) -> None:
    await tls.gateway(app)
    plain = await make_gateway(
        tls.town, tls.owner, external_host=f"https://{new_name('bare')}.localhost:{tls.port}", internal_host=app.url
    )
    for host in ("elsewhere.example", plain.host.partition(":")[0], "localhost"):
        assert await tls.shown(host) is None, host
    reader, writer = await asyncio.open_connection("127.0.0.1", tls.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"HTTP/1.1 200" not in await asyncio.wait_for(reader.read(), 20)
    writer.close()


async def test_who_says_nothing_keeps_nobody_out(tls: TlsTown, app: UpstreamApp) -> None:
    gateway, trusted = await tls.gateway(app)
    silent = [await asyncio.open_connection("127.0.0.1", tls.port) for _ in range(1010)]
    leaving = [asyncio.create_task(left(reader)) for reader, _ in silent]
    async with asyncio.timeout(30):
        while sum(one.done() for one in leaving) < 10:  # only so many handshakes are under way
            await asyncio.sleep(0.05)
    for _, writer in silent:
        writer.transport.abort()
    await asyncio.gather(*leaving)
    async with asyncio.timeout(30):
        while await tls.shown(gateway.host.partition(":")[0]) is None:
            await asyncio.sleep(0.1)
    assert (await tls.ask(gateway, trusted, "/x")).status_code == 200


async def test_whoever_speaks_at_once_is_heard(tls: TlsTown, app: UpstreamApp) -> None:
    """The first message is often there before the server has turned to the connection, most of all when it is busy."""
    gateway, _ = await tls.gateway(app)
    host = gateway.host.partition(":")[0]
    for _ in range(10):
        os.kill(tls.town.pid, signal.SIGSTOP)
        asked = asyncio.create_task(tls.shown(host))
        await asyncio.sleep(0.05)
        os.kill(tls.town.pid, signal.SIGCONT)
        assert await asked


async def left(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        await reader.read(1)


async def test_the_server_itself_is_not_there(tls: TlsTown, app: UpstreamApp) -> None:
    """A certificate opens the way to its gateway; by another name in the request there is nothing."""
    gateway, trusted = await tls.gateway(app)
    other = await tls.ask(gateway, trusted, "/api/v2/core/users/me/", headers={"Host": tls.town.base_url[7:]})
    assert other.status_code == 404, other.text


async def test_a_domain_serves_the_hosts_below_it(tls: TlsTown, app: UpstreamApp) -> None:
    domain = f"{new_name('dom')}.localhost"
    gateway, _ = await tls.gateway(
        app,
        mode="forward_domain",
        cookie_domain=domain,
        internal_host="",
        skip_path_regex="",
        external_host=f"https://auth.{domain}:{tls.port}",
        certificate=(pair := await tls.pair(f"*.{domain}"))["pk"],
    )
    assert gateway.record["certificate"] == pair["pk"]
    found = {await tls.shown(host) for host in (f"auth.{domain}", f"wiki.{domain}")}
    assert found == {ssl.PEM_cert_to_DER_cert(await tls.certificate(pair))}
    assert await tls.shown(f"evil{domain}") is None


async def test_a_new_certificate_counts_soon(tls: TlsTown, app: UpstreamApp) -> None:
    gateway, _ = await tls.gateway(app)
    host = gateway.host.partition(":")[0]
    pair = await tls.pair(host)
    url = f"{API}/providers/applicationgateway/{gateway.id}/"
    assert (await tls.owner.call("PATCH", url, json={"certificate": pair["pk"]})).status_code == 200
    wanted = ssl.PEM_cert_to_DER_cert(await tls.certificate(pair))
    async with asyncio.timeout(30):
        while await tls.shown(host) != wanted:
            await asyncio.sleep(0.1)
