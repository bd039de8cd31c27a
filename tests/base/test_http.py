from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from yarl import URL

from kith.base.http import Outgoing, OutgoingError, PrivateHosts, checked_url, is_public
from kith.base.http.hops import first_hop, next_hop

MIB = 1024 * 1024
NOT_PUBLIC = """
    0.0.0.0 0.1.2.3 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1
    192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
    255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
    64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378::1 2001:2::1
    2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: 2620:4f:8000::1
    3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1
"""
PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 223.255.255.254
    2606:4700::1111 2001:4860:4860::8888 2a00:1450::1 2003::1 ::ffff:8.8.8.8
"""


@pytest.mark.parametrize("text", NOT_PUBLIC.split())
def test_an_address_that_leads_inwards_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.split())
def test_an_ordinary_address_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize(
    ("exceptions", "host", "address", "port", "may"),
    [
        ([], "a.example", "8.8.8.8", 443, True),
        ([], "a.example", "8.8.8.8", 80, True),
        ([], "a.example", "8.8.8.8", 8443, True),
        ([], "a.example", "8.8.8.8", 22, False),
        ([], "a.example", "8.8.8.8", 25, False),
        ([], "a.example", "127.0.0.1", 443, False),
        (["127.0.0.1"], "a.example", "127.0.0.1", 25, True),
        (["127.0.0.1"], "a.example", "::ffff:127.0.0.1", 443, True),
        (["127.0.0.1"], "a.example", "127.0.0.2", 443, False),
        (["127.0.0.1:8080"], "a.example", "127.0.0.1", 8080, True),
        (["127.0.0.1:8080"], "a.example", "127.0.0.1", 8081, False),
        (["10.0.0.0/8"], "a.example", "10.9.8.7", 443, True),
        (["10.0.0.0/8:443"], "a.example", "10.9.8.7", 80, False),
        (["::1"], "a.example", "::1", 443, True),
        (["[::1]:8080"], "a.example", "::1", 8080, True),
        (["[::1]:8080"], "a.example", "::1", 443, False),
        (["Ldap.lan"], "ldap.lan.", "10.0.0.1", 389, True),
        (["ldap.lan"], "other.lan", "10.0.0.1", 443, False),
        (["ldap.lan:443"], "ldap.lan", "10.0.0.1", 8443, False),
    ],
)
def test_exceptions_open_what_they_name_and_no_more(
    exceptions: list[str], host: str, address: str, port: int, may: bool
) -> None:
    assert PrivateHosts(exceptions).may_reach(host, ip_address(address), port) is may


@pytest.mark.parametrize("text", ["", "10.0.0.1/8", "a b:80", "host:port", "[::1", "300.1.1.1", "[host]:80"])
def test_an_exception_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        PrivateHosts([text])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org",
        "http:x",
        "http:///path",
        "//example.org/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "http://user:password@example.org/",
        "http://user@example.org/",
        "http://@example.org/",
        "http://example.org\\@127.0.0.1/",
        "http://exa mple.org/",
        "http://example.org/\r\nX-Evil: 1",
        "http://example.org/\u2028",
        "http://ex%61mple.org/",
        "http://a..b/",
        "http://-a.example/",
        "http://xn--\u00fc/",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://1.2.3.4.5/",
        f"http://{'a' * 64}.example/",
        f"http://example.org/{'a' * 5000}",
    ],
)
async def test_a_url_that_two_readers_could_read_differently_is_refused(url: str) -> None:
    async with _outgoing() as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", url)
    assert caught.value.reason == "bad_url"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("HTTPS://Example.ORG", "https://example.org/"),
        ("http://example.org:80/a/../b%20c", "http://example.org/b%20c"),
        ("http://example.org?q=%2f", "http://example.org/?q=%2f"),
        ("https://bücher.example/ü?q=ü#part", "https://xn--bcher-kva.example/%C3%BC?q=%C3%BC"),
        ("http://[2606:4700::1111]:8080/", "http://[2606:4700::1111]:8080/"),
    ],
)
def test_a_checked_url_is_the_one_that_is_sent(url: str, sent: str) -> None:
    assert checked_url(url) == sent


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://LOCALHOST:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[64:ff9b::7f00:1]:{port}/",
        "http://0.0.0.0:{port}/",
        "http://１２７.0.0.1:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://8.8.8.8:25/",
    ],
)
async def test_a_private_address_is_refused_however_it_is_spelled(town: Town, url: str) -> None:
    async with _outgoing() as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", url.format(port=town.port))
    assert caught.value.reason == "refused_address"
    assert not town.asked


async def test_a_named_exception_holds_for_that_name_only(town: Town) -> None:
    async with _outgoing("localhost") as outgoing:
        answer = await outgoing.request("GET", f"http://localhost:{town.port}/")
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"http://127.0.0.1:{town.port}/")
    assert (answer.status, answer.body) == (200, b"GET /")
    assert caught.value.reason == "refused_address"


@pytest.fixture
def two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A DNS where every name leads to two loopback addresses, the first of them with nobody home."""

    def answer(host: str, port: int, *_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("127.0.0.9", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@pytest.mark.usefixtures("two_addresses")
async def test_a_name_with_only_private_addresses_is_refused(town: Town) -> None:
    async with _outgoing() as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"http://two.example:{town.port}/")
    assert caught.value.reason == "refused_address"
    assert not town.asked


@pytest.mark.usefixtures("two_addresses")
@pytest.mark.parametrize("exception", ["127.0.0.1", "two.example"])
async def test_a_name_with_one_open_address_is_reached_there(town: Town, exception: str) -> None:
    async with _outgoing(exception) as outgoing:
        answer = await outgoing.request("GET", f"http://two.example:{town.port}/")
    assert answer.status == 200


async def test_a_redirect_to_a_private_address_is_refused(town: Town, other: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", town.redirect(302, f"{other.url}/secret"))
    assert caught.value.reason == "refused_address"
    assert not other.asked


async def test_an_answer_carries_status_headers_body_and_url(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        answer = await outgoing.request("POST", f"{town.url}/new?x=1#y", body=b"hello", headers={"X-Mine": "1"})
    assert answer.status == 200
    assert answer.headers["x-ASKED-with"] == "hello"
    assert answer.body == b"POST /new?x=1"
    assert answer.url == f"{town.url}/new?x=1"
    assert town.asked[0].headers["User-Agent"] == "kith-test"
    assert town.asked[0].headers["X-Mine"] == "1"


async def test_cookies_are_not_kept(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        await outgoing.request("GET", f"{town.url}/cookie")
        await outgoing.request("GET", f"{town.url}/again")
    assert "Cookie" not in town.asked[1].headers


async def test_a_post_is_redirected_as_a_get_or_whole(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        turned = await outgoing.request("POST", town.redirect(301, "/there"), body=b"hello")
        whole = await outgoing.request("POST", town.redirect(308, "/there"), body=b"hello")
    assert (turned.body, turned.headers["X-Asked-With"]) == (b"GET /there", "")
    assert (whole.body, whole.headers["X-Asked-With"]) == (b"POST /there", "hello")
    assert whole.url == f"{town.url}/there"


async def test_credentials_stay_with_their_origin(town: Town, other: Town) -> None:
    headers = {"authorization": "Bearer x", "Cookie": "a=b", "Signature": "s", "Accept": "text/plain"}
    async with _outgoing(town.place, other.place) as outgoing:
        await outgoing.request("GET", town.redirect(307, f"{other.url}/x"), headers=headers)
        await outgoing.request("GET", town.redirect(307, "/x"), headers=headers)
    assert not {"Authorization", "Cookie", "Signature"} & set(other.asked[0].headers)
    assert other.asked[0].headers["Accept"] == "text/plain"
    assert town.asked[-1].headers["Authorization"] == "Bearer x"


async def test_a_redirect_can_be_signed_anew(town: Town, other: Town) -> None:
    def sign(method: str, url: str) -> dict[str, str]:
        return {"Signature": f"{method} {url}"}

    async with _outgoing(town.place, other.place) as outgoing:
        await outgoing.request(
            "GET",
            town.redirect(302, f"{other.url}/x"),
            headers={"Signature": "old", "X-Old": "1"},
            on_redirect=sign,
        )
    assert other.asked[0].headers["Signature"] == f"GET {other.url}/x"
    assert "X-Old" not in other.asked[0].headers


async def test_a_redirect_is_an_answer_to_whoever_wants_it(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        answer = await outgoing.request("GET", f"{town.url}/loop", max_redirects=None)
    assert (answer.status, answer.headers["Location"]) == (302, "/loop")
    assert len(town.asked) == 1


async def test_a_redirect_loop_ends(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"{town.url}/loop", max_redirects=2)
    assert caught.value.reason == "too_many_redirects"
    assert len(town.asked) == 3


@pytest.mark.parametrize("location", ["http://example.org/", "ftp://example.org/", "//u:p@example.org/", "//[x"])
def test_a_redirect_cannot_lead_out_of_https_or_to_a_bad_url(location: str) -> None:
    hop = first_hop("GET", "https://example.org/a", None, None)
    with pytest.raises(OutgoingError) as caught:
        next_hop(hop, 302, location, None)
    assert caught.value.reason == "bad_url"


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("GET", 301, "GET"),
        ("HEAD", 303, "HEAD"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("PUT", 303, "GET"),
        ("PUT", 302, "PUT"),
        ("POST", 307, "POST"),
    ],
)
def test_the_method_after_a_redirect(method: str, status: int, then: str) -> None:
    hop = next_hop(first_hop(method, "http://a.example/x/y", None, b"b"), status, "../z", None)
    assert (hop.method, hop.url) == (then, URL("http://a.example/z"))


@pytest.mark.parametrize("path", ["/bomb", "/announced", "/endless"])
async def test_a_body_past_the_limit_is_not_read_on(town: Town, path: str) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", town.url + path)
    assert caught.value.reason == "too_large"


async def test_a_body_of_exactly_the_limit_is_read(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        answer = await outgoing.request("GET", f"{town.url}/", max_bytes=5)
        head = await outgoing.request("HEAD", f"{town.url}/announced")
    assert answer.body == b"GET /"
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize("path", ["/slow-start", "/slow-body"])
async def test_a_slow_answer_is_given_up(town: Town, path: str) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", town.url + path, timeout=0.1)
    assert caught.value.reason == "timeout"


async def test_a_download_comes_in_chunks_and_is_limited(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        async with outgoing.stream("GET", f"{town.url}/bomb", max_bytes=64 * MIB) as download:
            assert download.status == 200
            total = sum([len(chunk) async for chunk in download])
        seen: list[bytes] = []
        with pytest.raises(OutgoingError) as caught:
            await _download(outgoing, f"{town.url}/bomb", seen)
    assert total == 20 * MIB
    assert caught.value.reason == "too_large"
    assert len(b"".join(seen)) <= 100_000


async def _download(outgoing: Outgoing, url: str, into: list[bytes]) -> None:
    async with outgoing.stream("GET", url, max_bytes=100_000) as download:
        async for chunk in download:
            into.append(chunk)  # noqa: PERF401 - what came before the error counts


async def test_a_callers_own_error_passes_through_a_download(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(ValueError, match="mine"):
            async with outgoing.stream("GET", f"{town.url}/"):
                raise ValueError("mine")


@pytest.mark.parametrize(
    "answer",
    [
        b"no http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
async def test_nonsense_is_a_protocol_error(answer: bytes) -> None:
    async with _raw_server(answer) as port, _outgoing("127.0.0.1") as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"http://127.0.0.1:{port}/")
    assert caught.value.reason == "protocol"


async def test_a_server_that_hangs_up_or_is_not_there_is_a_connection_error() -> None:
    async with _outgoing("127.0.0.1") as outgoing:
        async with _raw_server(b"") as port:
            with pytest.raises(OutgoingError) as hung_up:
                await outgoing.request("GET", f"http://127.0.0.1:{port}/")
        with pytest.raises(OutgoingError) as absent:
            await outgoing.request("GET", f"http://127.0.0.1:{port}/")
        with pytest.raises(OutgoingError) as nameless:
            await outgoing.request("GET", "http://name.invalid/")
    assert {hung_up.value.reason, absent.value.reason, nameless.value.reason} == {"connect"}


async def test_an_unknown_certificate_is_a_tls_error(tmp_path: Path) -> None:
    server = TestServer(web.Application(), scheme="https")
    await server.start_server(ssl=_self_signed(tmp_path))
    async with _outgoing("127.0.0.1") as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"https://127.0.0.1:{server.port}/")
    await server.close()
    assert caught.value.reason == "tls"


async def test_a_header_cannot_smuggle_another(town: Town) -> None:
    async with _outgoing(town.place) as outgoing:
        with pytest.raises(OutgoingError):
            await outgoing.request("GET", town.url, headers={"X-A": "1\r\nX-Evil: 2"})
    assert not town.asked


class Town:
    """Another server, on the loopback interface, that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[web.Request] = []
        self.enough = asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        self.server = TestServer(app)

    @property
    def port(self) -> int:
        assert self.server.port
        return self.server.port

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def redirect(self, status: int, to: str) -> str:
        return str(URL(f"{self.url}/redirect").with_query(status=status, to=to))

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        if request.path in {"/slow-start", "/slow-body", "/endless"}:
            return await self.speak(request)
        if request.path == "/redirect":
            return _redirect(int(request.query["status"]), request.query["to"])
        if request.path in FIXED:
            return FIXED[request.path]()
        sent = (await request.read()).decode()
        return web.Response(text=f"{request.method} {request.path_qs}", headers={"X-Asked-With": sent})

    async def speak(self, request: web.Request) -> web.StreamResponse:
        """Begin to answer, or not even that, and then fall silent."""
        response = web.StreamResponse()
        if request.path != "/slow-start":
            await response.prepare(request)
            with suppress(ConnectionError):
                await response.write(b"a" * (2 * MIB if request.path == "/endless" else 10))
        await self.enough.wait()
        return response


def _redirect(status: int, location: str) -> web.Response:
    return web.Response(status=status, headers={"Location": location})


FIXED: dict[str, Callable[[], web.Response]] = {
    "/loop": lambda: _redirect(302, "/loop"),
    "/cookie": lambda: web.Response(headers={"Set-Cookie": "a=b"}),
    "/bomb": lambda: web.Response(body=gzip.compress(bytes(20 * MIB)), headers={"Content-Encoding": "gzip"}),
    "/announced": lambda: web.Response(body=bytes(2 * MIB)),
}


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    async with _town() as town:
        yield town


@pytest.fixture
async def other() -> AsyncIterator[Town]:
    async with _town() as town:
        yield town


@asynccontextmanager
async def _town() -> AsyncIterator[Town]:
    town = Town()
    await town.server.start_server()
    try:
        yield town
    finally:
        town.enough.set()
        await town.server.close()


@asynccontextmanager
async def _outgoing(*private_hosts: str) -> AsyncIterator[Outgoing]:
    outgoing = Outgoing("kith-test", private_hosts)
    try:
        yield outgoing
    finally:
        await outgoing.close()


@asynccontextmanager
async def _raw_server(answer: bytes) -> AsyncIterator[int]:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def _self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = folder / "server.pem"
    pem.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    return context


# Answers that cost more than they bring


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
WASTEFUL = {
    "chunks of a byte": (CHUNKED, b"1\r\n \r\n"),
    "extensions": (CHUNKED, b"5;" + b"a" * 100 + b"\r\nhello\r\n"),
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\n", b"A: b\r\n"),
    "words before the answer": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "hints before the answer": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
    "empty pieces of gzip": (
        CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: deflate\r\n\r\n") + b"2\r\n\x78\x9c\r\n",
        b"5\r\n\x00\x00\x00\xff\xff\r\n",
    ),
}


class _Wire:
    """Says `head`, and `piece` over and over, to whoever connects; or once, where `times` says so."""

    def __init__(self, head: bytes, piece: bytes, times: int = 0) -> None:
        self._said = head + piece * times
        self._piece = b"" if times else piece * 1000
        self.sent = self.connections = self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            piece = self._said or self._piece
            while piece:
                writer.write(piece)
                await writer.drain()
                self.sent += len(piece)
                piece = self._piece
            await reader.read()
        writer.close()


@asynccontextmanager
async def _wire(head: bytes, piece: bytes, times: int = 0) -> AsyncIterator[_Wire]:
    wire = _Wire(head, piece, times)
    server = await asyncio.start_server(wire.talk, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()


@pytest.mark.parametrize("kind", WASTEFUL)
async def test_an_answer_that_is_wrapping_and_little_else_is_not_read_on(kind: str) -> None:
    async with _wire(*WASTEFUL[kind]) as wire, _outgoing("127.0.0.1") as outgoing:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", wire.url, max_bytes=1 << 30)
        with pytest.raises(OutgoingError) as again:
            await outgoing.request("GET", wire.url, max_bytes=1 << 30)

    is_left_alone = kind not in ("headers", "trailers")  # too many of these are what the library itself refuses
    assert (caught.value.reason, again.value.reason) == ("too_large" if is_left_alone else "protocol", "protocol")
    assert wire.connections == (1 if is_left_alone else 2)
    assert wire.sent < 16 * MIB  # most of which is the system's to hold


@pytest.mark.parametrize("length", [1, 4095, 4097, 70_000, 3_000_000])
@pytest.mark.parametrize("kind", ["length", "chunks", "small chunks", "packed", "packed chunks", "end"])
async def test_an_answer_is_whole_however_it_comes(kind: str, length: int) -> None:
    body = (bytes(range(256)) * (length // 256 + 1))[:length]
    packed = gzip.compress(body) if "packed" in kind else body
    size = max(8, length // 30_000) if kind.startswith("small") else 5000
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    head = b"HTTP/1.1 200 OK\r\n" + (b"Content-Encoding: gzip\r\n" if "packed" in kind else b"")
    if "chunks" in kind:
        said = b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in pieces) + b"0\r\n\r\n"
        head += b"Transfer-Encoding: chunked\r\n\r\n"
    else:
        said = packed
        head += b"Connection: close\r\n\r\n" if kind == "end" else b"Content-Length: %d\r\n\r\n" % len(packed)
    ends = kind == "end"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(head + said)
                if ends:
                    break
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with _outgoing("127.0.0.1") as outgoing:
        for _ in range(2):
            answers = await asyncio.gather(*(outgoing.request("GET", url, max_bytes=4 * MIB) for _ in range(3)))
            assert all(answer.body == body for answer in answers)
    server.close()


async def test_while_nobody_takes_an_answer_little_of_it_is_read() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
    async with (
        _wire(head, b"a" * 100) as wire,
        _outgoing("127.0.0.1") as outgoing,
        outgoing.stream("GET", wire.url, max_bytes=1 << 30) as download,
    ):
        before = -1
        while wire.sent > before:
            before = wire.sent
            await asyncio.sleep(0.1)
        async for chunk in download:
            assert chunk.strip(b"a") == b""
            if wire.sent > before:
                break

    assert before < 32 * MIB
