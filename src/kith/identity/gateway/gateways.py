"""All gateways of the server, kept in memory: asked for with every request, changed once in a while."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import select

from kith.base.db import query
from kith.base.work import Work, Works
from kith.identity.applications.tables import applications
from kith.identity.gateway.paths import HostPath, host_key, in_domain, read_original, readings, skip_patterns
from kith.identity.providers.family import providers
from kith.identity.providers.kinds.applicationgateway import CALLBACK, gateways, unseal
from kith.identity.rest.fields import read_offset

__all__ = ["FRESH_SECONDS", "OUTPOST", "SOON_SECONDS", "Gateway", "Gateways"]

OUTPOST = "/outpost.kith"
MOST_ORIGIN = 300
MOST_ORIGINS = 2000  # a whole domain may have as many hosts as somebody makes up
SOON_SECONDS = 0.1
FRESH_SECONDS = 1.0  # after which it is read again, so that other processes' changes count within two
_SHOWN = (
    "client_id", "mode", "internal_host", "external_host", "internal_host_ssl_validation", "skip_path_regex",
    "intercept_header_auth", "basic_auth_enabled", "basic_auth_user_attribute", "basic_auth_password_attribute",
    "cookie_domain", "access_token_validity", "cookie_secret",
)  # fmt: skip

_all = query(
    select(
        providers.c.id,
        providers.c.name,
        *(gateways.c[name] for name in _SHOWN),
        applications.c.slug.label("slug"),
    )
    .join(gateways, gateways.c.id == providers.c.id)
    .outerjoin(applications, applications.c.provider == providers.c.id)
    .order_by(providers.c.id),
    tuple,
)
_NAMES = ("id", "name", *_SHOWN, "slug")


class Gateway(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One gateway as it acts. `place` is its external host, with the path that it may have."""

    id: int
    name: str
    slug: str | None
    client_id: str
    mode: str
    scheme: str
    place: HostPath
    external_host: str
    internal_host: str
    verifies_tls: bool
    skips: tuple[Any, ...]
    takes_header_login: bool
    sends_basic: bool
    basic_user: str
    basic_password: str
    cookie_domain: str
    cookie: str
    seconds: int
    cookie_secret: str

    @property
    def is_proxy(self) -> bool:
        return self.mode == "proxy"

    @property
    def is_domain(self) -> bool:
        return self.mode == "forward_domain"

    @property
    def callback(self) -> str:
        return self.external_host + CALLBACK

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"

    def covers(self, place: HostPath) -> bool:
        """Whether this place lies behind the gateway."""
        if self.is_domain:
            return in_domain(place.host, self.cookie_domain)
        under = self.place.path
        return self.place.host == place.host and (
            not under or place.path == under or place.path.startswith(f"{under}/")
        )

    def endpoint_of(self, place: HostPath) -> str | None:
        """The name of one of the gateway's own endpoints, None for everything else."""
        for prefix in {f"{self.place.path}{OUTPOST}/", f"{OUTPOST}/"}:
            if place.path.startswith(prefix):
                return place.path.removeprefix(prefix).rstrip("/")
        return None


class Gateways:
    """Read again when somebody has changed one, and every second: other processes may have."""

    def __init__(self, works: Works, read_more: Callable[[Work], Awaitable[None]]) -> None:
        """`read_more` reads what else is kept in memory for the gateways there are."""
        self._works = works
        self._read_more = read_more
        self._read_at = -1e9
        self._read: dict[tuple[Any, ...], Gateway | None] = {}  # by their rows, for most stay as they are
        self._all: tuple[Gateway, ...] = ()
        self._by_host: dict[str, tuple[Gateway, ...]] = {}
        self._domains: tuple[Gateway, ...] = ()
        self._by_origin: dict[bytes, Gateway] = {}
        self._lock = asyncio.Lock()
        self._changes = 0

    def forget(self) -> None:
        self._changes += 1
        self._read_at = -1e9

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self._read_at < FRESH_SECONDS

    def all(self) -> tuple[Gateway, ...]:
        return self._all

    def at(self, place: HostPath) -> Gateway | None:
        """The gateway before this place; call `refresh` first. One host before a domain, a long path before a short.

        None for a path that could be read as one behind another gateway as well.
        """
        if not self._has_paths(place.host):
            return self._at(place)
        found = {self._at(HostPath(place.host, path)) for path in readings(place.path)}
        return found.pop() if len(found) == 1 else None

    def _has_paths(self, host: str) -> bool:
        return any(one.place.path for one in self._by_host.get(host, ()))

    def _at(self, place: HostPath) -> Gateway | None:
        for gateway in self._by_host.get(place.host, ()):
            if gateway.covers(place):
                return gateway
        found = [one for one in self._domains if one.covers(place)]
        return max(found, key=lambda one: len(one.cookie_domain), default=None)

    def at_origin(self, url: bytes) -> Gateway | None:
        """The same for forward authentication, in a hurry: from the beginning of an absolute URL, if that is enough."""
        if time.monotonic() - self._read_at >= FRESH_SECONDS:
            return None
        end = url.find(b"/", 8)
        origin = url if end < 0 else url[:end]
        found = self._by_origin.get(origin)
        if found is None and len(origin) <= MOST_ORIGIN:
            found = self._read_origin(origin)
        return found

    def _read_origin(self, origin: bytes) -> Gateway | None:
        asked = read_original(origin.decode("latin-1"))
        found = self.at(asked.place) if asked is not None else None
        if asked is None or found is None or found.is_proxy or self._has_paths(asked.host):
            return None
        if len(self._by_origin) >= MOST_ORIGINS:
            self._by_origin.clear()
        self._by_origin[origin] = found
        return found

    def is_any_at(self, host: str) -> bool:
        """Whether requests that come for this host are the gateway's to answer: its own hosts, not whole domains."""
        return host in self._by_host or any(one.place.host == host for one in self._domains)

    async def refresh(self, within: float = FRESH_SECONDS) -> None:
        """Read them again if they were read longer ago; for a host that is not known, sooner than otherwise."""
        if time.monotonic() - self._read_at < within:
            return
        async with self._lock:
            if time.monotonic() - self._read_at < within:
                return
            changes, asked_at = self._changes, time.monotonic()
            async with self._works.begin() as work:
                rows = await work.db.all(_all)
                self._read = {row: self._read.get(row) or _gateway(work, row) for row in rows}
                if rows:
                    await self._read_more(work)
            self._set([one for one in self._read.values() if one is not None])
            if changes == self._changes:
                self._read_at = asked_at

    def _set(self, found: list[Gateway]) -> None:
        by_host: dict[str, list[Gateway]] = {}
        for gateway in sorted(found, key=lambda one: -len(one.place.path)):
            if not gateway.is_domain:
                by_host.setdefault(gateway.place.host, []).append(gateway)
        self._all = tuple(found)
        self._by_origin = {}
        self._by_host = {host: tuple(some) for host, some in by_host.items()}
        self._domains = tuple(one for one in found if one.is_domain)


def cookie_name(client_id: str) -> str:
    return f"kith_proxy_{hashlib.sha256(client_id.encode()).hexdigest()[:8]}"


def _gateway(work: Work, columns: tuple[Any, ...]) -> Gateway | None:
    row = dict(zip(_NAMES, columns, strict=True))
    parts = urlsplit(row["external_host"])
    host = host_key(parts.netloc, parts.scheme)
    if host is None:
        return None
    return Gateway(
        id=row["id"],
        name=row["name"],
        slug=row["slug"],
        client_id=row["client_id"],
        mode=row["mode"],
        scheme=parts.scheme,
        place=HostPath(host, parts.path.rstrip("/")),
        external_host=row["external_host"],
        internal_host=row["internal_host"],
        verifies_tls=row["internal_host_ssl_validation"],
        skips=skip_patterns(row["skip_path_regex"]),
        takes_header_login=row["intercept_header_auth"],
        sends_basic=row["basic_auth_enabled"],
        basic_user=row["basic_auth_user_attribute"],
        basic_password=row["basic_auth_password_attribute"],
        cookie_domain=row["cookie_domain"].lstrip(".").lower(),
        cookie=cookie_name(row["client_id"]),
        seconds=int(read_offset(row["access_token_validity"]) or 0.0),
        cookie_secret=unseal(work, "cookie_secret", row["cookie_secret"]),
    )
