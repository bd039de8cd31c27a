"""A push service on the loopback interface, and devices that read what it was sent, with somebody else's code."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import http_ece
import jwt
import msgspec
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.social.members import Member

PATH = "/api/v1/push/subscription"


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Received(msgspec.Struct):
    headers: dict[str, str]
    body: bytes


class Device:
    """One that subscribes for an app: its keys, what it was sent, and what the service answers for it next."""

    def __init__(self, service: Service, path: str) -> None:
        self.path = path
        self.endpoint = f"{service.origin}/{path}"
        self.origin = service.origin
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = secrets.token_bytes(16)
        self.received: list[Received] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.is_endless = False
        self.held: asyncio.Event | None = None

    @property
    def subscription(self) -> dict[str, Any]:
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.endpoint, "keys": {"p256dh": encoded(point), "auth": encoded(self.auth)}}

    async def subscribe(self, member: Member, *, standard: bool = True, **data: Any) -> dict[str, Any]:
        sent = {"subscription": self.subscription | {"standard": standard}} | ({"data": data} if data else {})
        return dict(await member.post(PATH, json=sent))

    def texts(self) -> list[dict[str, Any]]:
        return [json.loads(self.read(one)) for one in self.received]

    def read(self, one: Received) -> bytes:
        if one.headers["content-encoding"] == "aes128gcm":
            options: dict[str, Any] = {"version": "aes128gcm"}
        else:
            salt = one.headers["encryption"].removeprefix("salt=")
            keys = dict(part.split("=", 1) for part in one.headers["crypto-key"].split(";"))
            options = {"version": "aesgcm", "salt": decoded(salt), "dh": decoded(keys["dh"])}
        return bytes(http_ece.decrypt(one.body, private_key=self.key, auth_secret=self.auth, **options))

    def sender(self, one: Received) -> tuple[dict[str, Any], str]:
        """What the signed token says, and the public key it was verified with."""
        scheme, _, rest = one.headers["authorization"].partition(" ")
        if scheme == "vapid":
            said = dict(part.strip().split("=", 1) for part in rest.split(","))
            token, public = said["t"], said["k"]
        else:
            assert scheme == "WebPush"
            keys = dict(part.split("=", 1) for part in one.headers["crypto-key"].split(";"))
            token, public = rest, keys["p256ecdsa"]
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public))
        return jwt.decode(token, key, algorithms=["ES256"], audience=self.origin), public


class Service:
    """Takes whatever comes, and answers as each device says."""

    def __init__(self) -> None:
        self.origin = ""
        self._devices: dict[str, Device] = {}

    def device(self) -> Device:
        made = Device(self, secrets.token_hex(8))
        self._devices[made.path] = made
        return made

    async def take(self, request: web.Request) -> web.StreamResponse:
        device = self._devices[request.match_info["path"]]
        headers = {name.lower(): value for name, value in request.headers.items()}
        device.received.append(Received(headers, await request.read()))
        if device.held is not None:
            await device.held.wait()
        status, said = device.answers.pop(0) if device.answers else (201, {})
        if not device.is_endless:
            return web.Response(status=status, headers=said)
        answer = web.StreamResponse(status=status, headers=said)
        await answer.prepare(request)
        try:
            while True:
                await answer.write(b"x" * 65536)
        except ConnectionError:
            return answer


@asynccontextmanager
async def open_service(host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Service]:
    service, app = Service(), web.Application()
    app.router.add_post("/{path}", service.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, 0, ssl_context=tls).start()
        scheme = "http" if tls is None else "https"
        service.origin = f"{scheme}://{host}:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()


def self_signed(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A certificate for this machine, and the file of the authority that whoever believes it needs."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority, chain = folder / f"{name}.pem", folder / f"{name}-server.pem"
    authority.write_bytes(certificate.public_bytes(Encoding.PEM))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(authority.read_bytes() + private)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(chain)
    return context, authority
