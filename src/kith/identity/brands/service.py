"""Which brand a request is for. All of them are kept in memory, and read again when one was changed, by any process.

Only what the operator has named counts of the host that a client claims: it chooses among the brands, and no link is
made from it.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import func, select

from kith.base.db import query
from kith.base.exchange import Exchange
from kith.base.settings import Settings
from kith.base.stored_settings import SettingsChanged
from kith.base.work import Works
from kith.identity.brands.facts import BrandChanged
from kith.identity.brands.resources import brands

MOST_HOST = 260
_FLOWS = ("authentication", "invalidation", "recovery", "unenrollment", "user_settings", "device_code")


class _Row(msgspec.Struct):
    brand_uuid: str
    domain: str
    default: bool
    branding_title: str
    branding_logo: str
    branding_favicon: str
    has_style: bool
    flow_authentication: str | None
    flow_invalidation: str | None
    flow_recovery: str | None
    flow_unenrollment: str | None
    flow_user_settings: str | None
    flow_device_code: str | None
    default_application: str | None
    updated_at: datetime


# A picture in a data: URL is not kept here, but served by itself.
_logo, _icon = (func.substr(brands.c[f"branding_{name}"], 1, 2000) for name in ("logo", "favicon"))
_all = query(
    select(
        *(brands.c[name] for name in ("brand_uuid", "domain", "default", "branding_title")),
        _logo.label("branding_logo"),
        _icon.label("branding_favicon"),
        (brands.c.branding_custom_css != "").label("has_style"),
        *(brands.c[f"flow_{name}"] for name in _FLOWS),
        brands.c.default_application,
        brands.c.updated_at,
    ).order_by(brands.c.domain),
    _Row,
)


class Brand(msgspec.Struct, frozen=True, kw_only=True):
    """A brand as pages show it; empty texts are for what it does not have."""

    title: str
    brand_uuid: str | None = None
    domain: str = ""
    logo: str = ""
    favicon: str = ""
    style: str = ""
    flows: dict[str, str] = {}  # by purpose
    default_application: str | None = None


class Brands:
    """All brands of the server."""

    def __init__(self, works: Works) -> None:
        self._works = works
        self._none = Brand(title=works.settings.title)
        self._default = self._none
        self._by_domain: dict[str, Brand] = {}
        self._is_fresh = False
        self._changes = 0
        self._lock = asyncio.Lock()
        works.news.listen(BrandChanged, self._forget)
        works.news.listen(SettingsChanged, self._forget)

    def _forget(self, _fact: BrandChanged | SettingsChanged) -> None:
        """Brands without a title have that of the settings."""
        if self._default is self._none:
            self._default = Brand(title=self._works.settings.title)
        self._none = Brand(title=self._works.settings.title)
        self._changes += 1
        self._is_fresh = False

    async def find(self, host: str) -> Brand:
        """The brand for this host or the nearest above it, else the default one, else one of the settings alone."""
        if not self._is_fresh:
            await self._read()
        return self.at(host)

    def at(self, host: str) -> Brand:
        """The same, as far as the brands are known already."""
        return self._of_domain(host_name(host)) or self._default

    def _of_domain(self, name: str) -> Brand | None:
        while name:
            found = self._by_domain.get(name)
            if found is not None:
                return found
            name = name.partition(".")[2]
        return None

    def facts(self, host: str) -> dict[str, str] | None:
        """For the audit trail; None for the default brand."""
        brand = self.at(host)
        if brand is self._default or brand.brand_uuid is None:
            return None
        return {"pk": brand.brand_uuid, "name": brand.domain}

    def origin(self, host: str) -> str:
        """Scheme and port are those of the base URL."""
        name = host_name(host)
        if not name or self.at(name).domain != name:
            return self._works.settings.base_url
        base = urlsplit(self._works.settings.base_url)
        return f"{base.scheme}://{name}{f':{base.port}' if base.port else ''}"

    def is_other(self, host: str) -> bool:
        name = host_name(host)
        return name != urlsplit(self._works.settings.base_url).hostname and self._of_domain(name) is not None

    async def _read(self) -> None:
        async with self._lock:
            if self._is_fresh:
                return
            changes, self._none = self._changes, Brand(title=self._works.settings.title)
            async with self._works.begin() as work:
                rows = await work.db.all(_all)
            found = [(row, _brand(self._works.settings, row)) for row in rows]
            self._by_domain = {row.domain: brand for row, brand in found}
            self._default = next((brand for row, brand in found if row.default), self._none)
            self._is_fresh = changes == self._changes


def _brand(settings: Settings, row: _Row) -> Brand:
    version = int(row.updated_at.timestamp() * 1000)

    def served(name: str, *, is_there: bool = True) -> str:
        return f"/static/brand/{row.brand_uuid}/{name}?v={version}" if is_there else ""

    def shown(name: str, url: str) -> str:
        return served(name) if url.startswith("data:") else url

    return Brand(
        title=row.branding_title or settings.title,
        brand_uuid=row.brand_uuid,
        domain=row.domain,
        logo=shown("logo", row.branding_logo),
        favicon=shown("favicon", row.branding_favicon),
        style=served("style.css", is_there=row.has_style),
        flows={name: flow for name in _FLOWS if (flow := getattr(row, f"flow_{name}")) is not None},
        default_application=row.default_application,
    )


def host_name(host: str) -> str:
    """The name in a Host header: in lower case and without its port; empty if it is none."""
    if not host or len(host) > MOST_HOST or host.startswith("["):
        return ""
    return host.partition(":")[0].lower().rstrip(".")


async def current(exchange: Exchange) -> Brand:
    """The brand of this request, looked up once."""
    if Brand not in exchange.kept:
        exchange.kept[Brand] = await exchange.find(Brands).find(exchange.host)
    found: Brand = exchange.kept[Brand]
    return found


def known(exchange: Exchange) -> Brand:
    """The same where nobody can wait: as far as the brands are known."""
    found: Brand | None = exchange.kept.get(Brand)
    return found if found is not None else exchange.find(Brands).at(exchange.host)
