"""Who is behind a host: names below a domain cost nothing, so what is counted for a host is counted for its domain."""

from __future__ import annotations

from yarl import URL

from kith.base.http.addresses import is_public, parse_address
from kith.base.http.urls import parse_url

__all__ = ["registrable_domain", "site_of", "site_of_domain"]

_SHORT = 3


def registrable_domain(domain: str) -> str:
    """Registered domain of a host, as far as the name tells: `a.b.example.org` is of `example.org`.

    Below the short names of countries one label more is taken (`example.co.uk`). Addresses and ports are themselves.
    """
    host = domain.partition(":")[0]
    labels = host.split(".")
    if labels[-1].isdigit() or domain.startswith("["):
        return domain
    is_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= _SHORT
    return ".".join(labels[-3:] if is_country else labels[-2:])


def site_of(url: URL) -> str:
    """For whom a call to `url` is counted: the registered domain, or the address.

    Of an address in the operator's own network each port is somebody else.
    """
    host = (url.raw_host or "").rstrip(".").lower()
    address = parse_address(host)
    if address is None:
        return registrable_domain(host)
    return host if is_public(address) else f"[{host}]:{url.port}"


def site_of_domain(domain: str) -> str:
    """Registered domain of a server that is named with or without its port."""
    return site_of(parse_url(f"https://{domain}/"))
