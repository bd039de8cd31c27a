"""A house whose clock can be set to the past, and people in it who call its own API.

Nothing listens: requests go to the edge in process. What follows from them (feeds, notifications, counts) is done by
the same jobs as ever, before the clock moves on.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.app import House, open_house
from kith.base import log
from kith.base.db.sqlite import SQLite
from kith.base.edge import Edge
from kith.base.exchange import Message
from kith.base.ids import Counter, IDs, id_at
from kith.base.settings import Settings

__all__ = ["Guest", "NotDone", "Past", "Upload", "open_past"]

Upload = tuple[str, str, bytes]  # its name, what kind of file it is, and the file


class NotDone(Exception):  # noqa: N818 - what was asked was not done
    """The server refused something that the story needs."""


class PastIDs(IDs):
    """Ids of the moment that the clock shows. Nobody else makes ids in a database that is being made."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._past = Counter(0)

    def new(self) -> int:
        return self._past.next(id_at(self._clock()) >> 16)


class Past:
    """`now` is what time it is, and may be moved on."""

    def __init__(self, house: House, edge: Edge, now: datetime) -> None:
        self.house = house
        self.edge = edge
        self.now = now
        self._worker = house.worker()

    async def settle(self) -> None:
        """Do what is still to be done, at this moment."""
        await self._worker.do_all_due()


class Guest:
    """A browser or an app: it has an address, keeps cookies, and may say who it speaks for."""

    def __init__(self, past: Past, *, address: str, agent: str, authorization: str = "") -> None:
        self.past = past
        self.address = address
        self.agent = agent
        self.authorization = authorization
        self._cookies: dict[str, str] = {}

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        form: Mapping[str, str] | None = None,
        files: Mapping[str, Upload] | None = None,
    ) -> Any:
        """The answer, decoded; whatever is refused is an error, for then the story is wrong."""
        kind, body = _packed(json, form, files)
        headers = [(b"host", self.past.house.settings.web_domain.encode()), (b"user-agent", self.agent.encode())]
        if body:
            headers += [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
        if self.authorization:
            headers.append((b"authorization", self.authorization.encode()))
        if self._cookies:
            headers.append((b"cookie", "; ".join(f"{k}={v}" for k, v in self._cookies.items()).encode()))
            headers.append((b"x-csrf-token", self._cookies.get("kith_csrf", "").encode()))
        target, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": target,
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": (self.address, 50_000),
            "server": ("127.0.0.1", 8000),
        }
        answer = _Heard(body)
        await self.past.edge(scope, answer.receive, answer.send)
        self._keep(answer.headers)
        if answer.status >= 400:
            raise NotDone(f"{method} {path}: {answer.status} {answer.body[:500].decode(errors='replace')}")
        return msgspec.json.decode(answer.body) if answer.body[:1] in (b"{", b"[") else None

    def _keep(self, headers: list[tuple[bytes, bytes]]) -> None:
        for name, value in headers:
            if name.lower() == b"set-cookie":
                self._cookies |= {one.key: one.value for one in SimpleCookie(value.decode("latin-1")).values()}


class _Heard:
    """One request and what is answered, in the words of ASGI."""

    def __init__(self, body: bytes) -> None:
        self._sent = body
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._sent, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        else:
            self.body += message.get("body", b"")


def _packed(json: object, form: Mapping[str, str] | None, files: Mapping[str, Upload] | None) -> tuple[str, bytes]:
    if files:
        return _multipart(form or {}, files)
    if form is not None:
        return "application/x-www-form-urlencoded", urlencode(form).encode()
    return "application/json", b"" if json is None else msgspec.json.encode(json)


def _multipart(form: Mapping[str, str], files: Mapping[str, Upload]) -> tuple[str, bytes]:
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in form.items()
    ]
    for name, (file, kind, data) in files.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
        parts.append(f"{head}Content-Type: {kind}\r\n\r\n".encode() + data + b"\r\n")
    return f"multipart/form-data; boundary={boundary}", b"".join(parts) + f"--{boundary}--\r\n".encode()


@asynccontextmanager
async def open_past(settings: Settings, began_at: datetime) -> AsyncIterator[Past]:
    access_log = log.configure(msgspec.structs.replace(settings, log_level="error"))
    async with open_house(settings, connections=4) as house:
        edge = house.asgi(access_log)
        assert isinstance(edge, Edge)  # noqa: S101 - the settings of a demo open no gateway
        past = Past(house, edge, began_at)
        house.works.clock = lambda: past.now
        house.works.ids = PastIDs(house.works.clock)
        if isinstance(house.database, SQLite):
            house.database.flush_at_end()
        yield past
        await past.settle()
        if isinstance(house.database, SQLite):
            house.database.flush()
