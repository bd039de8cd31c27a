"""Somebody with a browser who walks through flows, and a security key that is a few lines of code."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import cbor2
import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command
from kith.identity.factors.tables import factors
from kith.identity.users.names import username_key
from kith.identity.users.tables import users
from tests.town import Person, Town

SIGN_IN = "default-authentication-flow"
SIGN_OUT = "default-invalidation-flow"


class Browser:
    """Keeps its cookies, and sends the token of the page with every answer."""

    def __init__(self, town: Town) -> None:
        self.town = town
        self.http = httpx.AsyncClient(base_url=town.base_url, timeout=120, transport=town.transport)

    async def see(self, slug: str, **query: str) -> dict[str, Any]:
        return self._read(await self.http.get(_path(slug), params={"query": urlencode(query)}))

    async def answer(self, slug: str, query: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
        return self._read(await self.post(slug, query, **fields))

    async def post(self, slug: str, query: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        headers = {"X-CSRF-Token": self.http.cookies.get("kith_csrf") or ""}
        params = {"query": urlencode(query or {})}
        return await self.http.post(_path(slug), params=params, json=fields, headers=headers)

    def _read(self, answer: httpx.Response) -> dict[str, Any]:
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def name(self, person: Person) -> dict[str, Any]:
        await self.see(SIGN_IN)
        return await self.answer(SIGN_IN, component="identification", uid_field=person.username)

    async def sign_in(self, person: Person) -> dict[str, Any]:
        await self.name(person)
        return await self.answer(SIGN_IN, component="password", password=person.password)

    async def follow(self, slug: str, key: str) -> dict[str, Any]:
        """Open a mailed link, and say on its page that one wants to go on."""
        shown = await self.see(slug, flow_token=key)
        return await self.answer(slug, {"flow_token": key}, component="link") if shown["component"] == "link" else shown

    async def sign_out(self) -> dict[str, Any]:
        await self.see(SIGN_OUT)
        return await self.answer(SIGN_OUT, component="userlogout")

    async def who(self) -> str | None:
        """Who the server thinks is there."""
        answer = await self.http.get("/api/v2/core/users/me/")
        return str(answer.json()["user"]["username"]) if answer.status_code == 200 else None


def _path(slug: str) -> str:
    return f"/api/v2/flows/executor/{slug}/"


def errors(told: dict[str, Any]) -> list[str]:
    return [one["string"] for words in told.get("response_errors", {}).values() for one in words]


async def link_in_mail(town: Town, address: str, *, more_than: int = 0, after: str = "flow_token=") -> str:
    """The key in the newest mail to `address` that has one, once there are more than so many of them."""
    async with asyncio.timeout(120):
        while True:
            bodies = [mail.get_body(("plain",)) for mail in town.mails() if mail["To"] == address]
            keys = [found for body in bodies if body for found in re.findall(rf"{after}(\S+)", body.get_content())]
            if len(keys) > more_than:
                return str(keys[-1])
            await asyncio.sleep(0.05)


_age_guesses = command(
    update(factors)
    .where(factors.c.user_id == select(users.c.id).where(users.c.username_key == bindparam("name")).scalar_subquery())
    .values(failed_at=bindparam("at", type_=Instant()))
)


async def age_guesses(town: Town, person: Person) -> None:
    """Whatever was guessed wrong at this person's devices, it was an hour ago."""
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_age_guesses, name=username_key(person.username), at=work.now - timedelta(hours=1))


class Key:
    """An authenticator of the simplest kind: one key pair on P-256, no attestation."""

    def __init__(self, town: Town) -> None:
        self.origin = town.base_url
        self.host = urlsplit(town.base_url).hostname or ""
        self.id = secrets.token_bytes(24)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.count = 0

    def _data(self, flags: int, more: bytes = b"") -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big") + more

    def _client(self, what: str, challenge: str) -> bytes:
        return json.dumps({"type": what, "challenge": challenge, "origin": self.origin}).encode()

    def register(self, options: dict[str, Any], *, verified: bool = True) -> dict[str, Any]:
        numbers = self._key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor2.dumps(public)
        data = self._data(0x45 if verified else 0x41, credential)
        response = {
            "clientDataJSON": _b64(self._client("webauthn.create", options["challenge"])),
            "attestationObject": _b64(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
            "transports": ["internal"],
        }
        return {"id": _b64(self.id), "rawId": _b64(self.id), "type": "public-key", "response": response}

    def sign(self, options: dict[str, Any], *, verified: bool = True, counts: bool = True) -> dict[str, Any]:
        self.count += 1 if counts else 0
        data = self._data(0x05 if verified else 0x01)
        client = self._client("webauthn.get", options["challenge"])
        signature = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {"clientDataJSON": _b64(client), "authenticatorData": _b64(data), "signature": _b64(signature)}
        return {"id": _b64(self.id), "rawId": _b64(self.id), "type": "public-key", "response": response}


def _b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
