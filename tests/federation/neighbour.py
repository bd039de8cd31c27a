"""A server of another make on the loopback interface, with people who have keys.

It serves their actors, posts and lists, keeps what arrives in its inboxes once the signature is checked, and signs and
posts what they do elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import httpx
import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kith.federation.signatures.digests import sha256
from kith.federation.signatures.received import ReceivedRequest
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.federation.signatures.verifying import read_claim, verify
from kith.federation.vocabulary.incoming import read_key
from tests.town.quick_http import QuickTransport

__all__ = ["ACTIVITY", "AS", "PUBLIC", "Arrived", "Neighbour", "RemotePerson", "neighbour"]

AS = "https://www.w3.org/ns/activitystreams"
PUBLIC = f"{AS}#Public"
ACTIVITY = "application/activity+json"
PATIENCE = 120.0
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@lru_cache(maxsize=32)
def private_key(number: int) -> rsa.RSAPrivateKey:
    """Keys take a moment to make, so that all neighbours of a run share them."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def pem_of(key: rsa.RSAPrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class Arrived(msgspec.Struct, frozen=True):
    """What somebody has sent to an inbox here. `signer` is whose key has signed it, as that actor's document says."""

    path: str
    activity: dict[str, Any]
    signer: str
    headers: Mapping[str, str]

    @property
    def type(self) -> str:
        return str(self.activity.get("type"))


class RemotePerson:
    """An actor of the neighbour: `document` is what is served of it and may be changed by a test."""

    def __init__(self, home: Neighbour, name: str, key: int, **changes: Any) -> None:
        self.home = home
        self.name = name
        self.uri = f"{home.url}/users/{name}"
        self.handle = f"{name}@{home.domain}"
        self.key = private_key(key)
        self.key_id = f"{self.uri}#main-key"
        self._count = 0
        self.document: dict[str, Any] = {
            "@context": [AS, "https://w3id.org/security/v1"],
            "id": self.uri,
            "type": "Person",
            "preferredUsername": name,
            "name": name.capitalize(),
            "inbox": f"{self.uri}/inbox",
            "outbox": f"{self.uri}/outbox",
            "followers": f"{self.uri}/followers",
            "following": f"{self.uri}/following",
            "url": f"{home.url}/@{name}",
            "endpoints": {"sharedInbox": f"{home.url}/inbox"},
            "publicKey": self.public_key,
        } | changes

    @property
    def public_key(self) -> dict[str, str]:
        return {"id": self.key_id, "owner": self.uri, "publicKeyPem": pem_of(self.key)}

    @property
    def signer(self) -> Signer:
        return Signer(self.key_id, self.key)

    def change_key(self, key: int) -> None:
        """From now on it signs with another key under the same name, and says so to whoever asks."""
        self.key = private_key(key)
        self.document["publicKey"] = self.public_key

    # Documents

    def note(self, name: str, content: str = "Hello", **changes: Any) -> dict[str, Any]:
        """A public post, served from now on; changed with `changes`."""
        uri = f"{self.uri}/statuses/{name}"
        document = {
            "@context": AS,
            "id": uri,
            "type": "Note",
            "attributedTo": self.uri,
            "content": f"<p>{content}</p>",
            "published": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "to": [PUBLIC],
            "cc": [f"{self.uri}/followers"],
        } | changes
        self.home.serves(f"/users/{self.name}/statuses/{name}", document)
        return document

    def activity(self, type: str, object: Any, **changes: Any) -> dict[str, Any]:
        self._count += 1
        id = f"{self.uri}#{type.lower()}s/{self._count}"
        return {"@context": AS, "id": id, "type": type, "actor": self.uri, "object": object} | changes

    def create(self, note: dict[str, Any], **changes: Any) -> dict[str, Any]:
        inner = {name: value for name, value in note.items() if name != "@context"}
        addressed = {name: note[name] for name in ("to", "cc") if name in note}
        return self.activity("Create", inner, **(addressed | {"id": f"{note['id']}/activity"} | changes))

    def undo(self, activity: dict[str, Any], **changes: Any) -> dict[str, Any]:
        inner = {name: value for name, value in activity.items() if name != "@context"}
        return self.activity("Undo", inner, **changes)

    # What it does elsewhere

    async def post(
        self,
        url: str,
        activity: Any,
        *,
        scheme: SigningScheme = SigningScheme.CAVAGE,
        signer: Signer | None = None,
        at: datetime | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Signed and sent. `headers` replace what signing has made; an empty value leaves one out."""
        body = activity if isinstance(activity, bytes) else msgspec.json.encode(activity)
        made = self.signed("POST", url, body, scheme=scheme, signer=signer, at=at)
        made |= {name.lower(): value for name, value in (headers or {}).items()}
        return await self.home.http.post(url, content=body, headers={n: v for n, v in made.items() if v})

    async def get(self, url: str, *, scheme: SigningScheme = SigningScheme.CAVAGE, **options: Any) -> httpx.Response:
        """A signed question for a document."""
        made = self.signed("GET", url, None, scheme=scheme, signer=options.get("signer"))
        return await self.home.http.get(url, headers={**made, "accept": ACTIVITY, **options.get("headers", {})})

    def signed(
        self,
        method: str,
        url: str,
        body: bytes | None,
        *,
        scheme: SigningScheme = SigningScheme.CAVAGE,
        signer: Signer | None = None,
        at: datetime | None = None,
    ) -> dict[str, str]:
        """The headers of a request that proves who makes it."""
        digest = None if body is None else sha256(body)
        headers = {} if body is None else {"content-type": ACTIVITY}
        return sign(signer or self.signer, RequestToSign(method, url, digest, headers), scheme, at or datetime.now(UTC))


class Neighbour:
    """`asked` are the paths that others have fetched, `arrived` what they have sent, in order."""

    def __init__(self) -> None:
        self.people: dict[str, RemotePerson] = {}
        self.asked: list[str] = []
        self.arrived: list[Arrived] = []
        self.refused: list[str] = []
        self.inbox_status = 202
        self._news = asyncio.Condition()
        self._answers: dict[str, tuple[int, str, bytes]] = {}
        self._answering: dict[str, Answering] = {}
        app = web.Application()
        app.router.add_post("/{path:.*}", self._take)
        app.router.add_get("/{path:.*}", self._give)
        self.server = TestServer(app)
        self.transport = QuickTransport()
        self.http = httpx.AsyncClient(timeout=60, transport=self.transport, follow_redirects=False)

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    @property
    def url(self) -> str:
        return f"http://{self.domain}"

    def person(self, name: str, *, key: int | None = None, **changes: Any) -> RemotePerson:
        """Somebody who lives here, found by WebFinger and served under `/users/NAME`."""
        self.people[name] = made = RemotePerson(self, name, len(self.people) if key is None else key, **changes)
        return made

    def serves(self, path: str, document: Any, *, status: int = 200, type: str = ACTIVITY) -> str:
        """From now on that is the answer for a path; its address."""
        raw = document if isinstance(document, bytes) else msgspec.json.encode(document)
        self._answers[path] = (status, type, raw)
        return self.url + path

    def answers(self, beginning: str, answering: Answering) -> str:
        """From now on that function answers whatever begins so."""
        self._answering[beginning] = answering
        return self.url + beginning

    def serves_collection(self, path: str, items: list[Any], **changes: Any) -> str:
        document = {"@context": AS, "id": self.url + path, "type": "OrderedCollection", "totalItems": len(items)}
        return self.serves(path, document | {"orderedItems": items} | changes)

    async def receives(self, wanted: str | Callable[[Arrived], bool], count: int = 1) -> Arrived:
        """Wait until as many of a kind of activity, or of what a function is content with, have arrived; the last."""
        fits = wanted if callable(wanted) else lambda one: one.type == wanted
        async with self._news:
            async with asyncio.timeout(PATIENCE):
                await self._news.wait_for(lambda: sum(map(fits, self.arrived)) >= count)
        return [one for one in self.arrived if fits(one)][count - 1]

    # Its answers

    async def _give(self, request: web.Request) -> web.StreamResponse:
        path = request.path_qs
        self.asked.append(path)
        for beginning, answering in self._answering.items():
            if path.startswith(beginning):
                return await answering(request)
        if path in self._answers:
            status, type, raw = self._answers[path]
            return web.Response(status=status, headers={"Content-Type": type}, body=raw)
        if request.path == "/.well-known/webfinger":
            return self._webfinger(request.query.get("resource", ""))
        who = self.people.get(request.path.removeprefix("/users/"))
        if who is None:
            return web.Response(status=404)
        return web.Response(headers={"Content-Type": ACTIVITY}, body=msgspec.json.encode(who.document))

    def _webfinger(self, resource: str) -> web.Response:
        for one in self.people.values():
            if resource.removeprefix("acct:") in (one.handle, one.uri, one.document.get("url")):
                links = [{"rel": "self", "type": ACTIVITY, "href": one.uri}]
                body = msgspec.json.encode({"subject": f"acct:{one.handle}", "links": links})
                return web.Response(headers={"Content-Type": "application/jrd+json"}, body=body)
        return web.Response(status=404)

    async def _take(self, request: web.Request) -> web.Response:
        if not request.path.endswith("/inbox"):
            return web.Response(status=404)
        body = await request.read()
        try:
            signer = await self._signer_of(request, body)
        except Exception as error:  # noqa: BLE001 - whatever it is, a test shall see it, and the sender a refusal
            self.refused.append(f"{request.path}: {error!r}")
            return web.json_response({"error": str(error)}, status=401)
        if self.inbox_status < 300:
            arrived = Arrived(request.path, msgspec.json.decode(body), signer, dict(request.headers))
            async with self._news:
                self.arrived.append(arrived)
                self._news.notify_all()
        return web.Response(status=self.inbox_status)

    async def _signer_of(self, request: web.Request, body: bytes) -> str:
        path, _, query = request.raw_path.partition("?")
        received = ReceivedRequest(
            request.method, path.encode(), query.encode(), request.raw_headers, body, origins=(self.url,)
        )
        claim = read_claim(received, datetime.now(UTC))
        answer = await self.http.get(claim.key_id.document, headers={"Accept": ACTIVITY})
        answer.raise_for_status()
        document = answer.json()
        key = read_key(document, claim.key_id.id)
        verify(claim, key.key)
        return key.owner


@asynccontextmanager
async def neighbour() -> AsyncIterator[Neighbour]:
    made = Neighbour()
    await made.server.start_server()
    try:
        yield made
    finally:
        await made.http.aclose()
        await made.transport.end()
        await made.server.close()
