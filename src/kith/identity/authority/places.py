"""Places and keys that one provider has at most, as far as somebody sets it up who is no superuser.

A provider under a path of another's host shares its origin and its visitors; one for a part of another's domain,
or for its directory tree, takes its questions; one with another's key can say what the other says, and is taken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from socket import inet_aton
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from kith.base.db import query
from kith.base.http.addresses import PrivateHosts, is_public, parse_address
from kith.base.settings import Settings
from kith.identity.authority.checks import is_key_used
from kith.identity.authority.write import Check, RecordWrite, refuse
from kith.identity.brands.resources import brands
from kith.identity.distinguished_names import read_name
from kith.identity.gateway.paths import host_key, in_domain
from kith.identity.providers.kinds.applicationgateway import gateways
from kith.identity.providers.kinds.ldap import ldap_providers

__all__ = ["keep_hosts", "keep_key_apart", "keep_trees", "keep_upstream"]

HOST = "Only a superuser may set up a gateway at a host that this server or another gateway has."
UPSTREAM = (
    "Only a superuser may set up a gateway to an address that is neither public nor listed in KITH_PRIVATE_HOSTS."
)
TREE = "Only a superuser may set up a second provider for the same directory tree."
KEY = "Only a superuser may have a provider use a key pair that something else uses."

_gateways = query(select(gateways.c.id, gateways.c.external_host, gateways.c.mode, gateways.c.cookie_domain), tuple)
_domains = query(select(brands.c.domain), str)
_trees = query(select(ldap_providers.c.id, ldap_providers.c.base_dn), tuple)


def _host(url: str) -> str:
    parts = urlsplit(url if "://" in url else f"https://{url}")
    return host_key(parts.netloc, parts.scheme) or parts.netloc.lower()


def _own_hosts(settings: Settings) -> set[str]:
    listed = (settings.base_url, settings.web_domain, settings.domain, settings.streaming_url)
    return {_host(one) for one in listed if one}


def _name(host: str) -> str:
    """Without the port: browsers send cookies to all ports of a host. An address has one spelling, as in browsers."""
    name = urlsplit(f"//{host}").hostname or host
    try:
        address: IPv4Address | IPv6Address = IPv6Address(name) if ":" in name else IPv4Address(inet_aton(name))
    except (OSError, ValueError):
        return name
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


async def keep_hosts(write: RecordWrite) -> None:
    after = write.after
    if after is None or not any(write.changes(name) for name in ("external_host", "mode", "cookie_domain")):
        return
    host, domain = _host(after["external_host"]), _domain(after)
    ours = _own_hosts(write.work.settings) | set(await write.work.db.all(_domains))
    if _name(host) in {_name(one) for one in ours} or any(domain and in_domain(one, domain) for one in ours):
        refuse(HOST)
    for id, external_host, mode, cookie_domain in await write.work.db.all(_gateways):
        other = {"external_host": external_host, "mode": mode, "cookie_domain": cookie_domain}
        if id != (write.before or {}).get("id") and _meet(after, other):
            refuse(HOST)


async def keep_upstream(write: RecordWrite) -> None:
    """Requests go there as they come, from inside the operator's network: not to the server itself or an address in it.

    What a name leads to is looked at when it is called (`UpstreamPool`).
    """
    after = write.after
    if after is None or not after["internal_host"] or not write.changes("internal_host"):
        return
    parts = urlsplit(after["internal_host"])
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if PrivateHosts(write.work.settings.private_hosts).lists(host, port):
        return
    name = _name(parts.netloc).rstrip(".").lower()
    address = parse_address(name)
    if name == "localhost" or name.endswith(".localhost") or (address is not None and not is_public(address)):
        refuse(UPSTREAM)


def _domain(gateway: Mapping[str, Any]) -> str:
    return str(gateway["cookie_domain"] or "").strip(".").lower() if gateway["mode"] == "forward_domain" else ""


def _meet(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether some address may belong to both."""
    first, second = _name(_host(one["external_host"])), _name(_host(other["external_host"]))
    return first == second or any(
        domain and (in_domain(host, domain) or in_domain(its, domain))
        for domain, host, its in (
            (_domain(one), second, _domain(other)),
            (_domain(other), first, _domain(one)),
        )
    )


async def keep_trees(write: RecordWrite) -> None:
    after = write.after
    if after is None or not write.changes("base_dn"):
        return
    wanted = read_name(after["base_dn"])
    for id, base_dn in await write.work.db.all(_trees):
        if id != (write.before or {}).get("id") and read_name(base_dn) == wanted:
            refuse(TREE)


def keep_key_apart(name: str) -> Check:
    """Others know a provider by its key: services by what it signs, a device by the certificate of its Wi-Fi.

    What the server shows where it listens itself, as for LDAP and gateways, can be shared: it proves a host alone.
    """

    async def check(write: RecordWrite) -> None:
        key = (write.after or {}).get(name)
        if key is not None and write.changes(name) and await is_key_used(write.work, key):
            refuse(KEY)

    return check
