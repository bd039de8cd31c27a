"""Which addresses kith may call.

The lists follow IANA's special-purpose registries, written out because the standard library calls several
of these ranges global: translation prefixes reach private IPv4 behind a public-looking IPv6 address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec

from kith.base.host_names import ascii_host

__all__ = ["Address", "PrivateHosts", "is_public"]

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4 carries any IPv4 address
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_ENTRY = re.compile(r"(?:\[(?P<bracketed>[^\[\]]+)\]|(?P<plain>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9._-]+")
_WELL_KNOWN_PORTS = frozenset({80, 443})


def is_public(ip: Address) -> bool:
    """Whether `ip` is an ordinary address of the public internet; an IPv4-mapped one is judged as IPv4."""
    ip = unmapped(ip)
    if ip.is_multicast or not ip.is_global:
        return False
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    return ip in _UNICAST_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def unmapped(ip: Address) -> Address:
    return (isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip


class _Exemption(msgspec.Struct, frozen=True):
    network: IPv4Network | IPv6Network | None
    host: str | None
    port: int | None

    def covers(self, host: str, ip: Address | None, port: int) -> bool:
        if self.port not in (None, port):
            return False
        return host == self.host if self.network is None else ip is not None and ip in self.network


class PrivateHosts:
    """The operator's exceptions to the guard.

    Each text is an address (`127.0.0.1`), a network (`10.0.0.0/8`) or a host name (`ldap.lan`), and may end
    in `:port`; an IPv6 address with a port is written `[::1]:8080`. An address or network may be reached
    under any name. A host name means that URLs which spell that very name may lead anywhere, so name only
    hosts whose DNS you trust. Without a port, every port is open there.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._exemptions = tuple(_parsed(text) for text in texts)

    def may_reach(self, host: str, ip: Address, port: int) -> bool:
        """Whether a connection to `ip` and `port`, wanted for a URL that names `host`, may be made."""
        ip, host = unmapped(ip), host.rstrip(".").lower()
        if is_public(ip) and (port in _WELL_KNOWN_PORTS or port >= 1024):
            return True
        return any(exemption.covers(host, ip, port) for exemption in self._exemptions)

    def lists(self, host: str, port: int) -> bool:
        """Whether the operator has listed `host`, as it stands in a URL: its address or its name."""
        ip, host = parse_address(host), host.rstrip(".").lower()
        return any(one.covers(host, ip and unmapped(ip), port) for one in self._exemptions)


def _parsed(text: str) -> _Exemption:
    with suppress(ValueError):
        return _Exemption(ip_network(text), None, None)
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise ValueError(f"not an address, network or host: {text!r}")
    port = int(match["port"]) if match["port"] else None
    target = match["bracketed"] or match["plain"]
    with suppress(ValueError):
        return _Exemption(ip_network(target), None, port)
    if match["bracketed"] or "/" in target or _looks_numeric(target):
        raise ValueError(f"not an address or network: {text!r}")
    host = ascii_host(target)
    if not _NAME.fullmatch(host):
        raise ValueError(f"not a host: {text!r}")
    return _Exemption(None, host.rstrip(".").lower(), port)


def _looks_numeric(target: str) -> bool:
    return target.rstrip(".").rpartition(".")[2].isdecimal()


def parse_address(text: str) -> Address | None:
    with suppress(ValueError):
        return ip_address(text)
    return None
