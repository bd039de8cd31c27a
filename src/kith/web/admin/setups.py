"""What is typed into the other software: addresses, names and secrets of an application, ready to copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kith.base.exchange import Exchange
from kith.base.settings import Settings
from kith.web import own_api
from kith.web.admin.known_software import GATEWAY, OPENID, SAML, Software, software_for

__all__ = ["ProviderSetup", "setup_of"]

_PATHS = {OPENID: "/providers/openid/", SAML: "/providers/saml/", GATEWAY: "/providers/applicationgateway/"} | {
    "oauth2": "/providers/oauth/",
    "ldap": "/providers/ldap/",
    "radius": "/providers/radius/",
    "scim": "/providers/scim/",
}


class ProviderSetup(msgspec.Struct, kw_only=True):
    """A provider, and for which software its settings are shown."""

    kind: str
    path: str
    pk: int
    record: dict[str, Any]
    software: Software | None
    others: Sequence[Software]
    address: str  # of the service, without a slash at its end
    host: str
    server: str  # where the proxy in front reaches this server
    urls: dict[str, Any]
    gateway_is_off: bool = False

    @property
    def has_preview(self) -> bool:
        return self.kind in (OPENID, SAML, "oauth2")


async def setup_of(exchange: Exchange, provider: int, wanted: str) -> ProviderSetup:
    kind = (await own_api.ask(exchange, f"/api/v2/providers/all/{provider}/"))["__type__"]
    record = {"client_secret": "", **await own_api.ask(exchange, f"/api/v2{_PATHS[kind]}{provider}/")}
    settings, others = exchange.server.works.settings, software_for(kind, record.get("mode", ""))
    software = _chosen(others, wanted, record)
    address = _address(record, software)
    urls: dict[str, Any] = {}
    if kind in (OPENID, "oauth2"):
        urls = await own_api.ask(exchange, f"/api/v2{_PATHS[kind]}{provider}/setup_urls/")
    return ProviderSetup(
        kind=kind,
        path=_PATHS[kind],
        pk=provider,
        record=record,
        software=software,
        others=others,
        address=address,
        host=urlsplit(address).netloc,
        server=_server(settings),
        urls=urls,
        gateway_is_off=kind == GATEWAY and not settings.gateway,
    )


def _chosen(others: Sequence[Software], wanted: str, record: Mapping[str, Any]) -> Software | None:
    """The software that was asked for; else the one whose way back is registered; else the general one."""
    uris = str(record.get("_redirect_uris", "")).split()
    named = [one for one in others if one.key == wanted]
    known = [one for one in others if any(uri.endswith(path) for path in one.callbacks for uri in uris)]
    return next(iter((*named, *known, *others)), None)


def _address(record: Mapping[str, Any], software: Software | None) -> str:
    if record.get("external_host"):
        return str(record["external_host"])
    for uri in str(record.get("_redirect_uris", "")).split():
        for path in software.callbacks if software is not None else ():
            if uri.endswith(path):
                return uri.removesuffix(path)
        parts = urlsplit(uri)
        return f"{parts.scheme}://{parts.netloc}"
    parts = urlsplit(str(record.get("acs_url", "")))
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else software.example if software is not None else ""


def _server(settings: Settings) -> str:
    """Where the gateway listens, as a proxy on the same machine reaches it."""
    host, _, port = settings.bind.rpartition(":")
    return f"127.0.0.1:{port}" if host in ("0.0.0.0", "[::]", "") else settings.bind  # noqa: S104 - compared only
